import type { ScannedHost } from '../../../domain/assets/scans/apply-scans.ts';
import type { ObservedPort } from '../../../domain/assets/scans/diff-ports.ts';
import { firstTime } from '../../parsing/parse-time.ts';
import { hostDescription, normalizeAddress } from '../../parsing/scanned-hosts.ts';
import { parseWebUrl } from '../../parsing/urls.ts';
import { elementsAt, type XmlElement } from '../../parsing/xml-stream.ts';
import type { ScanTarget } from '../../report.ts';
import { cutSharedName } from '../../targets.ts';

const PROTOCOLS = ['tcp', 'udp', 'sctp'] as const;
/** Nessus's names for an unknown service. */
const NO_SERVICE = ['', 'general', 'unknown'];

/** A host, or a site of Tenable's web application scanner. */
export interface NessusHost {
  /** The target in the report: an address, a name or a URL. */
  name: string;
  address: string | undefined;
  fqdn: string | undefined;
  names: string[];
  system: string | undefined;
  /** Whether its scan was completed. A report without times counts as complete. */
  isComplete: boolean;
  /** Whether the checks of an audit ran. */
  isAudited: boolean;
  endedAt: number | undefined;
  ports: Map<string, ObservedPort>;
}

export function newNessusHost(fullName: string): NessusHost {
  const name = cutSharedName(fullName);
  return {
    name,
    address: normalizeAddress(name),
    fqdn: undefined,
    names: [],
    system: undefined,
    isComplete: true,
    isAudited: false,
    endedAt: undefined,
    ports: new Map(),
  };
}

/** Reads the scan time, address and names of a host. */
export function addHostProperties(host: NessusHost, properties: XmlElement): void {
  const tags = new Map(
    elementsAt(properties, 'tag').map(({ attributes, text }) => [attributes.name ?? '', text.trim()]),
  );
  host.address = normalizeAddress(tags.get('host-ip')) ?? host.address;
  const hostNames = ['host-fqdn', 'host-rdns', 'hostname'].flatMap((name) => tags.get(name) || []);
  host.fqdn = hostNames[0];
  host.names = [...hostNames, tags.get('netbios-name') ?? ''];
  host.system = tags.get('operating-system')?.split('\n')[0];
  // `HOST_END` is local time without a zone.
  host.endedAt = firstTime(tags.get('HOST_END_TIMESTAMP'), tags.get('HOST_END'));
  host.isComplete = tags.has('HOST_END') || tags.has('HOST_END_TIMESTAMP') || !tags.has('HOST_START');
}

/** @returns the site if the name is a URL, else the address or name */
export function targetOfHost({ name, address }: NessusHost): ScanTarget {
  const url = parseWebUrl(name);
  return url === undefined ? { host: address ?? name } : { url: url.origin };
}

/** Records that the item's port is open. */
export function addObservedPort(host: NessusHost, { attributes }: XmlElement): void {
  const { port = '', protocol = '', svc_name: service = '' } = attributes;
  const number = Number(port);
  const knownProtocol = PROTOCOLS.find((name) => name === protocol.toLowerCase());
  if (knownProtocol === undefined || !Number.isInteger(number) || number < 1 || number > 65_535) return;
  const name = service.replace(/\?$/, '');
  const observedPort = host.ports.get(`${knownProtocol}/${number}`);
  if (observedPort?.service != null) return;
  host.ports.set(`${knownProtocol}/${number}`, {
    protocol: knownProtocol,
    number,
    state: 'open',
    service: NO_SERVICE.includes(name) ? null : name,
    probed: !NO_SERVICE.includes(name) && !service.endsWith('?'),
    banner: null,
    product: null,
    version: null,
    cpe: null,
  });
}

/** @returns the scanned host, if it has an address; the report does not say which ports were scanned */
export function toScannedHost({
  address,
  fqdn,
  names,
  system,
  endedAt,
  ports,
}: NessusHost): ScannedHost | undefined {
  if (address === undefined) return undefined;
  const name = fqdn === undefined ? {} : { name: fqdn };
  const seenAt = endedAt === undefined ? {} : { seenAt: endedAt };
  return {
    address,
    ...name,
    ...hostDescription(system, names),
    ...seenAt,
    ports: [...ports.values()],
    complete: false,
    unlistedStates: [],
  };
}
