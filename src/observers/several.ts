// Telling several observers what the core tells one.
import type { Observer } from '../observer.ts';

/** several is the Observer that passes everything on to each of the given ones, in their order; undefined is skipped. */
export function several(given: readonly (Observer | undefined)[]): Observer {
  const observers = given.filter((one) => one !== undefined);
  const tell =
    <Name extends keyof Observer>(name: Name) =>
    (...args: Parameters<Observer[Name]>): void => {
      for (const observer of observers) Reflect.apply(observer[name], observer, args);
    };
  return {
    onWarning: tell('onWarning'),
    onSignal: tell('onSignal'),
    onHookEnd: tell('onHookEnd'),
    onHookFailure: tell('onHookFailure'),
    onStepFailure: tell('onStepFailure'),
    onCheckChange: tell('onCheckChange'),
    onCheckResult: tell('onCheckResult'),
    onUnfinished: tell('onUnfinished'),
    onEnd: tell('onEnd'),
  };
}
