// Actions of the user that need the service.

import { whenBack } from "./connection.js";
import { requestToken } from "./token.js";

/** An action, as a function that does nothing while it runs for the same `key`. Its `input` is read once, a list of
    values, which is passed to the other functions: what the user has confirmed is what each try sends. `perform` does it,
    and `failed` shows an error, unless the action waits for a token, or is not wanted any more; `back` runs when the
    server answers again, with the error as last value. */
export function action({ input = (...values) => values, perform, failed, back, isWanted = () => true, key = () => "" }) {
  const busy = new Set();
  const attempt = async (given) => {
    const own = key(...given);
    if (busy.has(own)) return undefined;
    busy.add(own);
    try {
      return await perform(...given);
    } catch (error) {
      return isWanted(...given) && (await handleError(error, {
        again: () => attempt(given),
        failed: () => failed(error, ...given),
        back: back && (() => back(...given, error)),
      }));
    } finally {
      busy.delete(own);
    }
  };
  const run = (...values) => attempt(input(...values));
  run.isBusy = (...given) => busy.has(key(...given));
  return run;
}

/** Handles an error of the service: `again` runs with a token if that is missing. Otherwise `failed` shows the error,
    and `back` runs after an outage. */
export async function handleError(error, { again, failed, back }) {
  if (error.needsToken) return requestToken(error, again);
  await failed(error);
  if (error.isTransient && back) whenBack(error, back);
}
