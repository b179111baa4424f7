// The three health endpoints of a server, the checks that every server has, and the way from a URL to an answer.
import type { LifecycleSignals } from '../lifecycle/signals.ts';
import { Endpoint, type Answer, type EndpointOptions } from './endpoint.ts';
import { shutdownCheck } from './readyz.ts';

/** Health answers probes; what carries the question and the answer is not its business. */
export class Health {
  /** Its last check is `shutdown`. */
  readonly readyz: Endpoint;
  readonly livez: Endpoint;
  readonly healthz: Endpoint;

  constructor(signals: LifecycleSignals, options: EndpointOptions) {
    this.readyz = new Endpoint('readyz', options, shutdownCheck(signals));
    this.livez = new Endpoint('livez', options);
    this.healthz = new Endpoint('healthz', options);
  }

  /** close refuses further checks. */
  close(): void {
    for (const endpoint of [this.readyz, this.livez, this.healthz]) endpoint.close();
  }

  /** answer returns the answer to a probe, or undefined when the URL is not one (P-080). */
  answer(url: string): Answer | Promise<Answer> | undefined {
    // Nearly every request ends here, so the first letter decides before anything is cut or compared.
    const letter = url.charCodeAt(1) | 0x20;
    if (letter !== r && letter !== l && letter !== h) return undefined;
    const match = probeUrl.exec(url);
    if (match === null) return undefined;
    const endpoint = this[(match[1] as string).toLowerCase() as 'readyz' | 'livez' | 'healthz'];
    return endpoint.answer(match[2] ?? '', new URLSearchParams(match[3]));
  }
}

const r = 0x72;
const l = 0x6c;
const h = 0x68;

const probeUrl = /^\/(readyz|livez|healthz)(\/[^?]*)?(?:\?(.*))?$/i;
