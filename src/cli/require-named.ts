import { AssayError } from '#client';
import type { AnyClient } from './command-target.ts';
import { CliError } from './errors.ts';
import type { JsonRow } from './print-rows.ts';
import { programName } from './streams.ts';

interface NamedObject {
  noun: string;
  /** Has one parameter, the id or uid. */
  path: string;
  /** The command that lists such objects. */
  list: string;
}

const ASSESSMENT = { noun: 'Assessment', path: '/v1/assessments/{id}', list: 'assessment list' };
const GROUP = { noun: 'Group', path: '/v1/assessment_groups/{id}', list: 'group list' };
const ASSET = { noun: 'Asset', path: '/api/asset/v2/assets/{assetUid}', list: 'asset list' };
const IMPORT = { noun: 'Import', path: '/v1/imports/{id}', list: 'import list' };
const USER = { noun: 'User', path: '/v1/users/{id}', list: 'user list' };
const ORGANIZATION = {
  noun: 'Organization',
  path: '/v1/organizations/{uid}',
  list: 'organization list',
};

/** Filters of lists by the object that they name. Tags are missing, as the API reads none by its id. */
const NAMED_OBJECTS: Readonly<Record<string, NamedObject>> = {
  'filter[assessment_id][]': ASSESSMENT,
  'listingUid[]': ASSESSMENT,
  'outsideListingUid[]': ASSESSMENT,
  listing_uid: ASSESSMENT,
  'filter[assessment_group_id][]': GROUP,
  assessment_group_id: GROUP,
  'filter[asset_uid][]': ASSET,
  'entityUid[]': ASSET,
  'filter[import_id][]': IMPORT,
  'filter[gone_import_id][]': IMPORT,
  'filter[assignee_id][]': USER,
  'filter[tester_id][]': USER,
  'filter[user_id]': USER,
  'filter[organization_uid][]': ORGANIZATION,
  'organizationUid[]': ORGANIZATION,
};

/** Objects that are looked up per command. */
const MAX_LOOKUPS = 20;

/**
 * Looks up the objects that the filters of an empty list name: a mistyped uid is more likely than an empty list.
 * @throws CliError if one does not exist or is not visible to the caller
 */
export async function requireNamed(
  client: AnyClient,
  query: Readonly<Record<string, unknown>>,
): Promise<void> {
  const named = Object.entries(query).flatMap(([name, values]) => {
    const object = NAMED_OBJECTS[name];
    return object === undefined ? [] : [values].flat().map((value) => ({ ...object, id: String(value) }));
  });
  for (const { noun, path, list, id } of named.slice(0, MAX_LOOKUPS)) {
    const parameter = /\{(\w+)\}/.exec(path)?.[1] ?? '';
    try {
      await client.GET(path, { params: { path: { [parameter]: id } } });
    } catch (error) {
      // A caller without permission to read an object can still filter by it.
      if (!(error instanceof AssayError && error.status === 404)) continue;
      throw new CliError(
        `${noun} "${id}" not found. Run "${programName()} ${list}" to list those that you have access to.`,
      );
    }
  }
}

/** Yields the rows; calls `requireNamed` if there are none. */
export async function* requireNamedIfEmpty(
  rows: AsyncIterable<JsonRow>,
  client: AnyClient,
  query: Readonly<Record<string, unknown>>,
): AsyncGenerator<JsonRow> {
  let isEmpty = true;
  for await (const row of rows) {
    isEmpty = false;
    yield row;
  }
  if (isEmpty) await requireNamed(client, query);
}
