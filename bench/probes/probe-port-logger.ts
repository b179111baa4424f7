// A logger that logs nothing, and that notices when the probe port listens.

const { promise, resolve } = Promise.withResolvers<undefined>();

/** If you pass `logger` to a lifecycle, probePortListens resolves when the probe port of this lifecycle listens. */
export const probePortListens: Promise<undefined> = promise;

export const logger = {
  info: (_fields: unknown, message?: string): void => {
    if (message === 'probe port listens') resolve(undefined);
  },
  warn: (): void => undefined,
  error: (): void => undefined,
};
