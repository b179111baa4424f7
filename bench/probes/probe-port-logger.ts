// A logger that logs nothing, and that notices when the probe port listens.

const { promise, resolve } = Promise.withResolvers<undefined>();

/**
 * probePortListens resolves when the probe port of a lifecycle listens. The lifecycle must have the `logger` of this
 * module as its option `logger`.
 */
export const probePortListens: Promise<undefined> = promise;

export const logger = {
  info: (_fields: unknown, message?: string): void => {
    if (message === 'probe port listens') resolve(undefined);
  },
  warn: (): void => undefined,
  error: (): void => undefined,
};
