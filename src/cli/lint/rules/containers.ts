// Lint rules about containers: their command, image, limits and duplicate fields.
import { object, objects, text, type Path } from '../../manifest/fields.ts';
import type { Container } from '../inventory.ts';
import { inContainers, inServers, type Found, type Rule } from '../rule.ts';
import { isShell } from '../stated.ts';

const longestPortName = 15;

export const containerRules: readonly Rule[] = [
  {
    name: 'shell-command',
    severity: 'advice',
    find: inServers(({ fields, spec: { preStop } }) => {
      // With the preStop hook `lameduck stop`, a shell or npm that does not forward SIGTERM is harmless: the hook sends
      // the signal to the program itself.
      if (preStop?.kind === 'exec' && isLameduckStop(preStop.command)) return [];
      const command = list(fields['command']);
      const words = [...command, ...list(fields['args'])];
      const start = wrapperWords(words);
      const [program = '', flag = '', script = ''] = words.slice(start);
      const isScript = isShell(program) && /^-[a-z]*c$/.test(flag);
      const isLauncher = /^(?:\S*\/)?(npm|npx|yarn|yarnpkg|pnpm|pnpx)$/.test(program);
      if (!(isLauncher || (isScript && !/\bexec\s/.test(script)))) return [];
      return [
        {
          path: [start < command.length ? 'command' : 'args'],
          message: `The container starts ${program}, which may not forward the stop signal to the program that ${program} runs.`,
          remedy: isLauncher
            ? 'Start that program directly, for example with node server.js.'
            : 'Start the program in the shell script with exec, for example exec node server.js.',
        },
      ];
    }),
  },
  {
    name: 'moving-image-tag',
    severity: 'advice',
    find: inContainers(({ fields }) => {
      const image = text(fields['image'], '');
      // The image name `auto` is a placeholder that the injector of Istio replaces.
      if (image === 'auto') return [];
      const { tag, digest } = imageParts(image);
      if (image === '' || (digest === undefined ? tag !== undefined && tag !== 'latest' : isDigest(digest))) return [];
      return [
        {
          path: ['image'],
          message:
            digest === undefined
              ? 'The image has no tag, or the tag latest: pods of one rollout can run different programs.'
              : 'The digest is not `sha256:` followed by 64 hexadecimal digits, so the image cannot be pulled.',
          remedy: 'Name the image by a version tag or a digest.',
        },
      ];
    }),
  },
  {
    name: 'duplicate-name',
    severity: 'advice',
    find: inContainers(({ fields }) => [
      ...duplicates(fields, 'env', ['name']),
      ...duplicates(fields, 'ports', ['containerPort', 'protocol']),
      ...duplicates(fields, 'volumeMounts', ['mountPath']),
    ]),
  },
  {
    name: 'long-port-name',
    severity: 'advice',
    find: inContainers(({ fields }) =>
      objects(fields['ports']).flatMap(({ name }, index) =>
        text(name, '').length <= longestPortName
          ? []
          : [
              {
                path: ['ports', index, 'name'],
                message: `The API server rejects port names of more than ${String(longestPortName)} characters.`,
                remedy:
                  'Shorten the name of the container port. Change the name also in the Service and the probes that use it.',
              },
            ],
      ),
    ),
  },
  {
    name: 'no-memory-limit',
    severity: 'advice',
    find: inServers((container) =>
      limitsOf(container)['memory'] !== undefined
        ? []
        : [
            {
              path: ['resources', 'limits', 'memory'],
              message:
                'A pod whose container has no memory limit is among the first that a node under memory pressure evicts. The grace period of such an eviction is two seconds.',
              remedy: 'Set a memory limit that equals the memory request.',
            },
          ],
    ),
  },
  {
    name: 'cpu-limit',
    severity: 'advice',
    find: inServers((container) =>
      limitsOf(container)['cpu'] === undefined
        ? []
        : [
            {
              path: ['resources', 'limits', 'cpu'],
              message: 'A container at its CPU limit is paused, which delays requests and the answers to probes.',
              remedy: 'Set a CPU request and no limit, unless you need the limit.',
            },
          ],
    ),
  },
  {
    name: 'leader-election-without-token',
    severity: 'advice',
    find: inContainers(({ fields }, workload) => {
      const index = objects(fields['env']).findIndex(({ name }) =>
        text(name, '').startsWith('LAMEDUCK_LEADER_ELECTION_'),
      );
      const isAlone = objects(fields['env']).some(({ name }) => name === 'LAMEDUCK_LEADER_ELECTION_ALONE');
      if (index < 0 || isAlone || workload.spec['automountServiceAccountToken'] !== false) return [];
      return [
        {
          path: ['env', index, 'name'],
          message: 'Leader election needs the token of the service account, but automountServiceAccountToken is false.',
          remedy: 'Set automountServiceAccountToken to true.',
        },
      ];
    }),
  },
];

// Returns the number of words at the start of a command that come before the program: an init process, its options, and
// variables. The templates of the Helm charts skip the same words.
function wrapperWords(words: readonly string[]): number {
  const wrapper =
    /^(?:(?:(?:.*\/)?(?:tini|tini-static|dumb-init|catatonit|docker-entrypoint[.]sh|env)|(?:-[CPepru]|--rewrite)\n.*|-.*|[A-Za-z_][A-Za-z0-9_]*=.*)\n)*/;
  const [found = ''] = wrapper.exec(words.map((word) => `${word}\n`).join('')) ?? [];
  return found.split('\n').length - 1;
}

// Tells whether a command is `lameduck stop`, by the name of its program or by a path in the package.
function isLameduckStop(command: readonly string[]): boolean {
  return command.includes('stop') && command.some((word) => /(^|\/)lameduck(\/|$)/.test(word));
}

function list(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function limitsOf({ fields }: Container): ReturnType<typeof object> {
  return object(object(fields['resources'])['limits']);
}

function imageParts(image: string): { tag: string | undefined; digest: string | undefined } {
  const [name = '', digest] = image.split('@', 2);
  const [, tag] = /:([^:/]+)$/.exec(name) ?? [];
  return { tag, digest };
}

function isDigest(digest: string): boolean {
  return /^sha256:[0-9a-f]{64}$/.test(digest) || /^sha512:[0-9a-f]{128}$/.test(digest);
}

function duplicates(fields: ReturnType<typeof object>, name: string, keys: readonly string[]): Found[] {
  const seen = new Set<string>();
  return objects(fields[name]).flatMap((one, index) => {
    const identity = keys.map((key) => JSON.stringify(one[key] ?? (key === 'protocol' ? 'TCP' : null))).join('/');
    const path: Path = [name, index, keys[0] ?? ''];
    if (!seen.has(identity)) {
      seen.add(identity);
      return [];
    }
    return [
      {
        path,
        message: `The list ${name} contains ${identity} twice, so the API server rejects a server-side apply. If two environment variables have the same name, the last one takes effect.`,
        remedy: 'Remove one of the two entries.',
      },
    ];
  });
}
