// Combines several observers into one.
import type { Observer } from '../observer.ts';

/**
 * combineObservers returns an Observer that passes each event to all given observers, in their order. It ignores
 * elements that are undefined.
 */
export function combineObservers(given: readonly (Observer | undefined)[]): Observer {
  const observers = given.filter((one) => one !== undefined);
  const callAll =
    <Name extends keyof Observer>(name: Name) =>
    (...args: Parameters<Observer[Name]>): void => {
      for (const observer of observers) Reflect.apply(observer[name], observer, args);
    };
  return {
    onWarning: callAll('onWarning'),
    onSignal: callAll('onSignal'),
    onHookEnd: callAll('onHookEnd'),
    onHookFailure: callAll('onHookFailure'),
    onStepFailure: callAll('onStepFailure'),
    onCheckChange: callAll('onCheckChange'),
    onCheckResult: callAll('onCheckResult'),
    onUnfinished: callAll('onUnfinished'),
    onEnd: callAll('onEnd'),
  };
}
