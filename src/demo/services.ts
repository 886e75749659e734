import { lazyDemoData } from './data.ts';
import type { SeededRandom } from './random.ts';

/** A service that a scan observes on a port; `null` where the scan could not detect a value. */
export type Service = readonly [
  number: number,
  protocol: 'tcp' | 'udp',
  service: string | null,
  banner: string | null,
  product: string | null,
  version: string | null,
  cpe: string | null,
];

export interface Services {
  open: readonly Service[];
  /** Formerly open. */
  closed: readonly Service[];
}

/** All services: those of the main host of the demo, which needs more than one page. */
export const allServices = lazyDemoData('services.json') as () => Services;

/** Picks the services of an ordinary host. @param required ports that are open in any case */
export function pickServices(random: SeededRandom, required: readonly number[] = []): Services {
  const { open, closed } = allServices();
  return {
    open: open.filter(([number]) => random.happens(12) || required.includes(number)),
    closed: closed.filter(() => random.happens(10)),
  };
}
