// Converts the service in docker/compose.yaml to command-line options of docker or podman, so that the tests run the
// container with the documented options.
import assert from 'node:assert/strict';
import { parse } from 'yaml';
import { readPage } from '../../support/markdown.ts';
import { readOnly } from './runtime.ts';

interface Service {
  readonly image: string;
  readonly build: { readonly context: string; readonly dockerfile: string };
  readonly ports: readonly string[];
  readonly stop_grace_period: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly read_only: boolean;
  readonly cap_drop: readonly string[];
  readonly security_opt: readonly string[];
}

/** `composed()` returns the definition of the only Compose service in docker/compose.yaml. */
export function composed(): Service {
  const { services, ...rest } = parse(readPage('docker/compose.yaml')) as { services: Record<string, Service> };
  assert.deepEqual([Object.keys(services), rest], [['reference-service'], {}]);
  return services['reference-service'] as Service;
}

/**
 * composedOptions returns the command-line options of the service in docker/compose.yaml, without its ports. The given
 * environment variables override those of the service.
 */
export function composedOptions(variables: Readonly<Record<string, string>>): string[] {
  const { image: _image, build: _build, ports: _ports, stop_grace_period: _grace, ...service } = composed();
  const { environment, read_only, cap_drop, security_opt, ...unknown } = service;
  assert.deepEqual(unknown, {}, 'the tests have no option for this field');
  return [
    ...(read_only ? readOnly : []),
    ...cap_drop.flatMap((capability) => ['--cap-drop', capability]),
    ...security_opt.flatMap((option) => ['--security-opt', option]),
    ...Object.entries({ ...environment, ...variables }).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
  ];
}

/** gracePeriod returns the stop_grace_period in docker/compose.yaml, in seconds. */
export function gracePeriod(): number {
  const [, seconds] = /^(\d+)s$/.exec(composed().stop_grace_period) ?? [];
  return Number(seconds);
}
