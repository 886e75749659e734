import { isIP, isIPv6 } from 'node:net';
import type { Fault } from '../shared/failure.ts';

export const LOCATION_TYPES = ['url', 'ip', 'file', 'app-location', 'other'] as const;

/** Where somebody can use it; the last three are `null` where they are not known. */
export interface ExploitableLocation {
  type: string;
  value: string;
  address: string | null;
  port: number | null;
  protocol: string | null;
}

/** As it comes: of an address, the value or the members may be absent. */
export interface LocationInput {
  type: string;
  value?: string | undefined;
  address?: string | undefined;
  port?: number | undefined;
  protocol?: string | undefined;
}

/** Brings locations into one form; what is wrong with them is added to the faults. */
export function readLocations(locations: readonly LocationInput[], faults: Fault[]): ExploitableLocation[] {
  return locations.map((location, index) => {
    const fault = (member: string, message: string, value: unknown) =>
      void faults.push({ property: `exploitableLocations.${index}.${member}`, message, value });
    return location.type === 'ip' ? readAddress(location, fault) : readPlace(location, fault);
  });
}

type AddFault = (member: string, message: string, value: unknown) => void;

function readPlace(location: LocationInput, fault: AddFault): ExploitableLocation {
  const { type, value = '', address = null, port = null, protocol = null } = location;
  if (value.trim() === '') fault('value', 'must not be empty', location.value);
  return { type, value, address, port, protocol };
}

/** The parts of a place in a network, in one form. */
interface Endpoint {
  address: string;
  port: number | null;
  protocol: string | null;
}

/** The value of an address is `protocol://address:port`, or the address alone: it and the members say the same. */
function readAddress({ type, value, ...given }: LocationInput, fault: AddFault): ExploitableLocation {
  const told = value === undefined ? undefined : endpointOf(value);
  if (value !== undefined && told === undefined)
    fault('value', 'must be an IP address, or protocol://address:port', value);
  const named = readMembers(given, told, fault);
  const endpoint = named ?? told;
  if (endpoint === undefined) {
    if (value === undefined && given.address === undefined) fault('value', 'is required', undefined);
    return { type, value: '', address: null, port: null, protocol: null };
  }
  const canonical = textOf(endpoint);
  if (told !== undefined && textOf(told) !== canonical)
    fault('value', `must be ${canonical}, as the other members have it`, value);
  return { type, value: canonical, ...endpoint };
}

/** @returns the endpoint that the members name, with what they leave open as the value tells it */
function readMembers(
  { address, port, protocol }: Omit<LocationInput, 'type' | 'value'>,
  told: Endpoint | undefined,
  fault: AddFault,
): Endpoint | undefined {
  if (address === undefined && port === undefined && protocol === undefined) return undefined;
  const canonical = address === undefined ? told?.address : addressOf(address);
  if (address !== undefined && canonical === undefined) fault('address', 'must be an IP address', address);
  if (protocol !== undefined && !PROTOCOL.test(protocol))
    fault('protocol', 'must be a word such as tcp or https', protocol);
  const portThen = port ?? told?.port ?? null;
  const protocolThen = protocol?.toLowerCase() ?? told?.protocol ?? null;
  if ((portThen === null) !== (protocolThen === null))
    fault(
      portThen === null ? 'port' : 'protocol',
      'is required: a port and a protocol go together',
      undefined,
    );
  if (canonical === undefined) {
    if (address === undefined) fault('address', 'is required', undefined);
    return undefined;
  }
  return { address: canonical, port: portThen, protocol: protocolThen };
}

const PROTOCOL = /^[a-z][a-z0-9+.-]{0,31}$/i;
const ENDPOINT = /^([a-z][a-z0-9+.-]{0,31}):\/\/(?:\[([0-9a-f:.]+)\]|([0-9.]+)):(\d{1,5})$/i;

function endpointOf(text: string): Endpoint | undefined {
  const alone = addressOf(text.replace(/^\[(.*)\]$/, '$1'));
  if (alone !== undefined) return { address: alone, port: null, protocol: null };
  const [, protocol = '', six, four, digits] = ENDPOINT.exec(text) ?? [];
  const address = addressOf(six ?? four ?? '');
  const port = Number(digits);
  return address === undefined || !(port <= 65_535)
    ? undefined
    : { address, port, protocol: protocol.toLowerCase() };
}

/** @returns the address as RFC 5952 writes it */
function addressOf(text: string): string | undefined {
  switch (isIP(text)) {
    case 4:
      return text;
    case 6:
      return text.includes('%') ? undefined : new URL(`http://[${text}]`).hostname.slice(1, -1);
    default:
      return undefined;
  }
}

function textOf({ address, port, protocol }: Endpoint): string {
  if (port === null || protocol === null) return address;
  return `${protocol}://${isIPv6(address) ? `[${address}]` : address}:${port}`;
}
