// Warns about a livez check whose name looks like a dependency, such as a database. If such a check fails, the kubelet
// restarts the container, which does not repair the dependency (P-089).
import type { CheckFunction } from './check.ts';

// Words that name dependencies of a program. Each word in the name of a livez check is compared with these words.
// Digits do not count as a part of a word: `postgres2` is compared as `postgres`.
const dependencies: ReadonlySet<string> = new Set([
  'db',
  'database',
  'sql',
  'postgres',
  'postgresql',
  'mysql',
  'mariadb',
  'mongo',
  'mongodb',
  'dynamodb',
  'cassandra',
  'elasticsearch',
  'opensearch',
  'etcd',
  'redis',
  'valkey',
  'memcached',
  'kafka',
  'rabbitmq',
  'amqp',
  'nats',
  'upstream',
]);

interface Named {
  readonly name: string;
  readonly run: CheckFunction;
}

/**
 * DependencyWarnings logs one warning for each livez check whose name suggests that it checks a dependency, such as a
 * database.
 */
export class DependencyWarnings {
  readonly #warn: (message: string) => void;
  readonly #readyz: Named[] = [];
  readonly #livez: Named[] = [];
  readonly #warned = new Set<string>();

  constructor(warn: (message: string) => void) {
    this.#warn = warn;
  }

  noteReadyz(check: Named): void {
    this.#readyz.push(check);
    for (const livez of this.#livez) this.#compare(livez, check);
  }

  noteLivez(check: Named): void {
    this.#livez.push(check);
    const word = wordsOf(check.name).find((found) => dependencies.has(found));
    if (word !== undefined) this.#warnOf(check, `the name contains "${word}"`);
    for (const readyz of this.#readyz) this.#compare(check, readyz);
  }

  #compare(livez: Named, readyz: Named): void {
    if (livez.name === readyz.name || livez.run === readyz.run) {
      this.#warnOf(
        livez,
        `this livez check has the same name or the same function as the readyz check "${readyz.name}"`,
      );
    }
  }

  #warnOf({ name }: Named, why: string): void {
    if (this.#warned.has(name)) return;
    this.#warned.add(name);
    this.#warn(
      `livez check "${name}" looks like a dependency: ${why}. If a livez check fails, the kubelet restarts every replica. A restart does not repair the dependency, so add the check to /readyz only`,
    );
  }
}

function wordsOf(name: string): string[] {
  const words = name.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? [];
  return words.map((word) => word.toLowerCase());
}
