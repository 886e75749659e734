import { expandAddressRange, MAX_RANGE_ADDRESSES } from '#client';
import type { AnyClient } from './command-target.ts';
import { CliError } from './errors.ts';
import { printJson, printLines, pluralize } from './print.ts';
import type { OperationOptions } from './run-operation.ts';

const PATH = '/api/asset/v2/assets';
/** Hosts per request of operation 74, and addresses per look-up, which keep its URL short. */
const [MAX_BATCH, MAX_LOOKUP] = [1_000, 100];

const RANGE_ERRORS = {
  invalid: 'is not a valid range of addresses',
  reversed: 'ends before it begins',
  'too-many': `has more than ${MAX_RANGE_ADDRESSES.toLocaleString('en')} addresses. Use smaller ranges`,
};

/**
 * Creates a host for each address of a range, except those that exist. Without `--yes`, prints them and creates none.
 * @returns whether `location` is a range of addresses
 */
export async function createHosts(
  client: AnyClient,
  body: Readonly<Record<string, unknown>>,
  { yes, json }: OperationOptions,
): Promise<boolean> {
  const { location, assetType, organizationUid } = body;
  const range =
    assetType === 'host' && typeof location === 'string' ? expandAddressRange(location.trim()) : undefined;
  if (range === undefined) return false;
  if ('error' in range)
    throw new CliError(`--location "${String(location)}" ${RANGE_ERRORS[range.error]}.`, 2);
  const { addresses } = range;
  const existing = await findExisting(client, String(organizationUid), addresses);
  const missing = addresses.filter((address) => !existing.has(address));
  const hosts = pluralize(missing.length, 'hosts');
  if (yes !== true) {
    if (json === true) printJson({ create: missing, existing: [...existing] });
    else
      printLines(...addresses.map((address) => `${existing.has(address) ? 'exists' : 'create'}  ${address}`));
    throw new CliError(
      missing.length === 0
        ? 'All hosts of this range exist.'
        : `Nothing was created. Add --yes to create ${hosts}.`,
      2,
    );
  }
  const created: unknown[] = [];
  for (let start = 0; start < missing.length; start += MAX_BATCH) {
    const batch = missing.slice(start, start + MAX_BATCH).map((address) => ({ ...body, location: address }));
    const { data } = await client.POST(PATH, { body: batch });
    created.push(...(data as unknown[]));
  }
  if (json === true) printJson(created);
  else
    printLines(
      `Created ${pluralize(created.length, 'hosts')}.${existing.size === 0 ? '' : ` ${pluralize(existing.size, 'hosts')} existed.`}`,
    );
  return true;
}

async function findExisting(
  client: AnyClient,
  organizationUid: string,
  addresses: readonly string[],
): Promise<Set<string>> {
  const existing = new Set<string>();
  for (let start = 0; start < addresses.length; start += MAX_LOOKUP) {
    const query = {
      'organizationUid[]': [organizationUid],
      'assetType[]': ['host'],
      'ipRange[]': addresses.slice(start, start + MAX_LOOKUP),
      fields: 'location',
      perPage: MAX_LOOKUP,
    };
    for await (const { location } of client.rows(PATH, { params: { query } }) as AsyncIterable<{
      location: string;
    }>)
      existing.add(location);
  }
  return existing;
}
