import type { Transaction } from '../db/database.ts';
import type { ScannedHost } from '../domain/assets/scans/apply-scans.ts';
import { upsertScannedHosts } from '../domain/assets/scans/upsert-hosts.ts';
import { type ObservedPort, ScannedPorts } from '../domain/assets/scans/diff-ports.ts';
import type { SeededRandom } from './random.ts';
import { personChangeContext, type Schedule, type DemoUser } from './schedule.ts';
import type { Service } from './services.ts';

const DAY = 86_400_000;
const WEEKS_BETWEEN = 4;
const ALL_PORTS = new ScannedPorts([
  ['tcp', 1, 65_535],
  ['udp', 1, 65_535],
]);

/** A host that is scanned periodically, with its services after the last scan. */
export interface SeedScanHost {
  address: string;
  open: readonly Service[];
  closed: readonly Service[];
  /** Ports that are open in every scan. */
  sure: readonly number[];
}

/** Numbers of the scans that observe a service. */
interface PortLifetime {
  service: Service;
  from: number;
  until: number;
  /** A scan that misses the service. */
  missedBy: number | undefined;
  /** The index of the scan from which on the service has its new version. */
  updatedBy: number;
}

/** Schedules a scan of the hosts every four weeks, in which ports open, close, reopen and change versions. */
export function seedScans(
  { tx, schedule, random }: { tx: Transaction; schedule: Schedule; random: SeededRandom },
  scanner: DemoUser,
  organizationId: number,
  hosts: readonly SeedScanHost[],
  { start, now }: { start: number; now: number },
): void {
  const times: number[] = [];
  // Counts back from the last scan, which was a few days ago.
  for (let at = now - random.between(1, 6) * DAY; at > start; at -= WEEKS_BETWEEN * 7 * DAY)
    times.unshift(at);
  const lives = hosts.map((host) => ({
    address: host.address,
    lives: portLifetimes(host, times.length, random),
  }));
  for (const [scan, at] of times.entries()) {
    schedule.add(at, (moment) =>
      upsertScannedHosts(
        tx,
        personChangeContext(scanner, moment),
        organizationId,
        lives.map(({ address, lives: services }): ScannedHost => ({
          address,
          complete: true,
          scannedPorts: ALL_PORTS,
          unlistedStates: ['closed'],
          seenAt: moment,
          ports: services.flatMap((life) => observePort(life, scan)),
        })),
      ),
    );
  }
}

function portLifetimes(
  { open, closed, sure }: SeedScanHost,
  scans: number,
  random: SeededRandom,
): PortLifetime[] {
  const last = scans - 1;
  const lifeOf = (service: Service): PortLifetime => {
    const from = random.happens(70) ? 0 : random.between(0, last);
    const missedBy = random.happens(8) ? random.between(from + 1, last) : undefined;
    return {
      service,
      from,
      until: last,
      missedBy: missedBy === last ? undefined : missedBy,
      updatedBy: random.happens(25) ? random.between(from, last) : 0,
    };
  };
  return [
    ...open.map((service): PortLifetime => {
      const life = lifeOf(service);
      return sure.includes(service[0]) ? { ...life, from: 0, missedBy: undefined } : life;
    }),
    ...closed.map((service): PortLifetime => ({
      service,
      from: 0,
      until: random.between(0, Math.max(0, last - 1)),
      missedBy: undefined,
      updatedBy: 0,
    })),
  ];
}

function observePort(
  { service, from, until, missedBy, updatedBy }: PortLifetime,
  scan: number,
): ObservedPort[] {
  if (scan < from || scan > until || scan === missedBy) return [];
  const [number, protocol, name, banner, product, version, cpe] =
    scan < updatedBy ? olderVersion(service) : service;
  const state = 'open';
  return [{ number, protocol, state, service: name, probed: true, banner, product, version, cpe }];
}

/** Returns the service with an older version, if its version is known. */
function olderVersion(service: Service): Service {
  const [number, protocol, name, banner, product, version, cpe] = service;
  const older = version?.replace(/(?<!\d)(\d+)(?=(?:\D+[01])*\D*$)/, (digits) =>
    String(Math.max(0, Number(digits) - 1)),
  );
  if (typeof version !== 'string' || older === undefined) return service;
  const inText = (text: string | null) => text?.replaceAll(version, older) ?? null;
  return [number, protocol, name, inText(banner), product, older, inText(cpe)];
}
