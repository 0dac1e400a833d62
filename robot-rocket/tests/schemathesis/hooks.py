"""What the contract of the service does deliberately, and schemathesis reports as a failure.

Each rule is one deviation, as narrow as possible. Everything else fails the run.
"""

import json
import re

import schemathesis


@schemathesis.deserializer("text/html")
def contract_type(context, response):
    """JSON has the type text/html, unless the client prefers application/json."""
    return json.loads(response.content)


TEXT_TYPES = ("application/x-ndjson", "text/csv")


@schemathesis.serializer(*TEXT_TYPES)
def text(context, value):
    """Files other than JSON are text."""
    return {"data": value if isinstance(value, bytes) else str(value).encode()}


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Whether a failure is none of the deviations."""
    rules = DEVIATIONS.get(type(failure).__name__, ())
    return not any(rule(case, response) for rule in rules)


# Valid requests that are rejected


CONTRADICTIONS = {
    "columns must be a JSON object that has the name of a field, or null, for each column",
    "kinds must be a JSON object that has a kind, such as \"number\", for each column",
    "nulls must be a JSON array of texts, such as [\"NA\"]",
    "ids must have 1 to 1000 ids, and the query none",
    "after and cursor exclude each other; give one of them",
    "after needs the order of the names; use cursor, as in the header Link",
    "cursor belongs to another sort; give the sort of the page that it comes from",
    "spreadsheet=true needs format=csv",
    "year excludes year_from and year_to; give either it or them",
}

EMPTY_RANGE = re.compile(r"(\w+)_from must not be greater than \1_to")


def parameters_contradict_each_other(case, response):
    """A schema cannot say which parameters exclude each other."""
    others = [message for message in said(response) - CONTRADICTIONS if not EMPTY_RANGE.fullmatch(message)]
    return response.status_code == 400 and not others


def field_is_repeated(case, response):
    """A pattern cannot say that each field may be named once."""
    fields = str((case.query or {}).get("fields", "")).split(",")
    return response.status_code == 400 and len(fields) > len(set(fields))


def cursor_is_opaque(case, response):
    """A cursor is a text that only the service makes."""
    message = "cursor is not one that a link of this service contains"
    return response.status_code == 400 and message in said(response)


def position_is_opaque(case, response):
    """A position is a text that only the service makes, and is one of this catalogue for some time."""
    ends = ("it is no position in the changes of a catalogue", "'last-100' for the last 100 changes")
    is_malformed = any(message.endswith(ends) for message in said(response))
    return response.status_code == 410 or response.status_code == 400 and is_malformed


def change_needs_a_condition(case, response):
    """A schema cannot say that one of several parameters is required."""
    message = "This would change every robot; give at least one condition, such as id=1"
    return response.status_code == 400 and said(response) == {message}


def condition_is_not_met(case, response):
    """A condition is about the robot, which a schema does not know."""
    conditions = {"if-match", "if-none-match"} & sent_headers(case)
    return response.status_code == 412 and bool(conditions)


def tag_violates_its_pattern(case, response):
    """Here, schemathesis takes a value for valid that does not match the pattern of the document."""
    patterns = {parameter.name: parameter.definition["schema"].get("pattern") for parameter in case.operation.headers}
    sent = [(patterns.get(name), value) for name, value in (case.headers or {}).items()]
    is_invalid = any(pattern and not re.search(pattern, value) for pattern, value in sent)
    is_about_tags = all("is malformed; send an ETag" in message for message in said(response))
    return response.status_code == 400 and is_invalid and is_about_tags


def content_is_not_of_the_format(case, response):
    """A schema cannot describe CSV and NDJSON, nor that `format` takes precedence over the type."""
    is_import = "/robots/import" in case.operation.path
    about_records = said(response) - {ADVICE}
    is_about_records = all(without_position(message) != message for message in about_records)
    return is_import and response.status_code == 400 and is_about_records


def no_definition_fits(case, response):
    """A schema cannot say for which files a definition can be proposed. The reply has the columns of the file."""
    if response.status_code != 400 or "/robots/import" not in case.operation.path:
        return False
    report = json.loads(response.content)
    return "columns" in report.get("data", ())


def choice_does_not_fit(case, response):
    """A schema cannot say which encodings there are, and which fields the catalogue and the file have."""
    words = (" is not an encoding; ", " is not a field; ", " is not a field", " finds no robot; match ")
    about = [any(word in message for word in words) for message in said(response)]
    return "/robots/import" in case.operation.path and response.status_code == 400 and bool(about) and all(about)


def definition_contradicts_itself(case, response):
    """A schema cannot say which keywords a kind of field permits, nor which definitions contradict themselves."""
    return response.status_code == 400 and case.operation.path.endswith("/definition")


def body_is_stricter(case, response):
    """1977.0 is an integer to a schema, but not to the contract. At `/api`, unknown members are errors only with
    `Prefer: handling=strict`, which a schema cannot say."""
    revisions = case.body.get("revisions") if isinstance(case.body, dict) else None
    if isinstance(revisions, list) and any(isinstance(revision, float) for revision in revisions):
        return response.status_code == 400
    year = case.body.get("year") if isinstance(case.body, dict) else None
    is_strict = "handling=strict" in (case.headers or {}).get("Prefer", "")

    def is_known(message):
        is_of_year = message == "year must be an integer from 0 to 9223372036854775807"
        return isinstance(year, float) if is_of_year else is_strict and " is not a field; " in message

    return response.status_code == 400 and bool(said(response)) and all(map(is_known, said(response)))


def text_contains_nul(case, response):
    """The description forbids NUL in words. From a pattern, schemathesis would make texts of few kinds."""
    forbidden = [message.endswith(" must not contain the NUL character (U+0000)") for message in said(response)]
    return response.status_code in (400, 422) and bool(forbidden) and all(forbidden)


# Invalid requests that are not rejected as such


def body_is_too_large(case, response):
    """The limit of the body takes precedence over its content."""
    return response.status_code == 413


def equal_values_count_once(case, response):
    """The limit of values of a parameter is about different ones."""
    repeated = {name: values for name, values in (case.query or {}).items() if isinstance(values, list)}
    limits = {name: 1000 if name == "id" else 16 if name.endswith("_contains") else 100 for name in repeated}
    return any(len(values) > limits[name] >= len(set(map(str, values))) for name, values in repeated.items())


def unknown_parameter_is_ignored(case, response):
    """Existing clients send some to bypass caches. With `Prefer: handling=strict`, and at `/v1`, they are 400."""
    known = {parameter.name for parameter in case.operation.query}
    return not case.operation.path.startswith("/v1/") and bool(set(case.query or {}) - known)


def condition_takes_precedence(case, response):
    """A condition that is not met takes precedence over violated rules."""
    return condition_is_not_met(case, response)


def records_of_an_import_fail(case, response):
    """An import stores its valid records, and counts the others in `failed`."""
    if not case.operation.path.endswith("/robots/import") or response.status_code != 200:
        return False
    report = json.loads(response.content)
    return report.get("data", report).get("failed", 0) > 0


def text_is_of_any_type(case, response):
    """CSV and NDJSON are sent as text, whatever type of value schemathesis makes instead of a text."""
    return case.media_type in TEXT_TYPES and not isinstance(case.body, (str, bytes))


# Replies about deleted robots


def options_are_of_the_path(case, response):
    """OPTIONS describes a path, whether it has a robot or not."""
    return case.method == "OPTIONS" and response.status_code == 204


def missing_robot_is_a_200(case, response):
    """The contract answers a GET of a missing robot with 200."""
    is_read = case.method in ("GET", "HEAD") and case.operation.path == "/api/robots/{id}"
    is_missing = case.method == "HEAD" or json.loads(response.content) == {"status": "NOT-FOUND"}
    return is_read and response.status_code == 200 and is_missing


# Failures of the server


RULES = {
    "The name must be at most 255 characters long",
    "The name must not contain the NUL character (U+0000)",
    "The robot name must be unique",
    "The year cannot be less than zero",
    "Value of field 'type' must be part of list: droid, mechanical, virtual",
    "name is required",
    "type is required",
    "year is required",
}


ADVICE = (
    "To skip names that are taken, add on_conflict=skip to the query; to update their robots, "
    "on_conflict=replace"
)


def rule_is_violated(case, response):
    """In behaviour B, a violated rule is 500. The status of an import is that of its first failure."""
    rules = [without_position(message) for message in messages(response) if message != ADVICE]
    if case.operation.path.endswith("/robots/import"):
        rules = rules[:1]
    return response.status_code == 500 and bool(rules) and set(rules) <= RULES


DEVIATIONS = {
    "RejectedPositiveData": (
        parameters_contradict_each_other,
        field_is_repeated,
        cursor_is_opaque,
        position_is_opaque,
        change_needs_a_condition,
        condition_is_not_met,
        tag_violates_its_pattern,
        content_is_not_of_the_format,
        no_definition_fits,
        choice_does_not_fit,
        definition_contradicts_itself,
        body_is_stricter,
        text_contains_nul,
    ),
    "AcceptedNegativeData": (
        unknown_parameter_is_ignored,
        equal_values_count_once,
        condition_takes_precedence,
        body_is_too_large,
        records_of_an_import_fail,
        text_is_of_any_type,
    ),
    "UseAfterFree": (options_are_of_the_path, missing_robot_is_a_200),
    "ServerError": (rule_is_violated,),
}


def messages(response):
    """The messages of a failure. That to a HEAD has none."""
    try:
        failure = json.loads(response.content)
        return [error["message"] for error in failure.get("errors", ())] or list(failure.get("messages", ()))
    except (ValueError, AttributeError):
        return []


def said(response):
    return set(messages(response))


def without_position(message):
    """A message of an import without the record that it is about."""
    return re.sub(r"^(line|record) [0-9]+: ", "", message)


def sent_headers(case):
    return {name.lower() for name in case.headers or {}}
