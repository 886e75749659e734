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
  /** Services that were open in earlier scans. */
  closed: readonly Service[];
}

/** All services. The main host of the demo has them all, so that its ports fill more than one page. */
export const allServices = lazyDemoData('services.json') as () => Services;

/** Picks the services of an ordinary host. @param required ports that must be open */
export function pickServices(random: SeededRandom, required: readonly number[] = []): Services {
  const { open, closed } = allServices();
  return {
    open: open.filter(([number]) => random.happens(12) || required.includes(number)),
    closed: closed.filter(() => random.happens(10)),
  };
}
