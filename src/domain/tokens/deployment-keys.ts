import { type KeyObject, randomBytes } from 'node:crypto';
import {
  type IssuerName,
  type Keys,
  createKeys,
  generateSigningKey,
  type PrivateKey,
  type SigningKeys,
} from '../../auth/keys.ts';
import { masterKeyFingerprint, readMasterKeyFile, createMasterKeyFile } from '../../auth/master-key.ts';
import { seal, unseal } from '../../auth/sealing.ts';
import { type Database, type ReadConnection, type Transaction, StorageError } from '../../db/engine.ts';
import { SingleFlight } from '../../db/concurrency/single-flight.ts';
import { readCredentialVersions, bumpSigningKeyVersion } from './credentials.ts';

const SECRET_LENGTH = 32;
export const SECRET_PURPOSE = 'deployment secret';
/** The one row of `deployment_keys`. */
const ROW = 1;

/** The keys in the database are sealed with another master key than this process has. */
export class MasterKeyMismatch extends StorageError {
  override name = 'MasterKeyMismatch';
  /** The fingerprint of the master key that is needed. */
  readonly expected: string;
  /** The fingerprint of the one that is here; `undefined` when there is none. */
  readonly found: string | undefined;

  constructor(needed: string, found: string | undefined) {
    super(
      `The keys in the database are sealed with the master key ${needed}, not ${found ?? 'with any here'}.`,
    );
    this.expected = needed;
    this.found = found;
  }
}

/** The database has no keys yet, and this process may not choose the master key for them. */
export class KeysMissing extends Error {
  override name = 'KeysMissing';
}

export interface KeySource {
  /** `undefined` means the one in the data folder. */
  masterKey: KeyObject | undefined;
  dataDirectory: string;
  /** Whether a database without keys may get them sealed with a master key that is made in the data folder. */
  createsMasterKey: boolean;
  /** Called once, when keys come that this process cannot open, as they were sealed with another master key meanwhile. */
  onMismatch?: ((reason: MasterKeyMismatch) => void) | undefined;
}

/**
 * Opens the keys in a migrated database, and makes them when it has none. Of several that start together, one makes them
 * for all. Keys that others add or take away while the process runs count from then on; those that it
 * cannot open, as another master key was given to the database, are refused alone.
 * @returns the keys, and the master key that they are sealed with
 * @throws WrongMasterKey when they are sealed with another one than the source has, NoKeysYet when there are none
 */
export async function loadKeys(
  db: Database,
  source: KeySource,
  issuer: IssuerName,
): Promise<{ keys: Keys; masterKey: KeyObject }> {
  const offered = source.masterKey ?? readMasterKeyFile(source.dataDirectory);
  const found = await sealedSecret(db.read);
  // Whoever made the keys in between has left the file before them.
  const masterKey =
    offered ?? (found === undefined ? createMasterKey(source) : readMasterKeyFile(source.dataDirectory));
  if (found === undefined && masterKey !== undefined) await insertKeys(db, masterKey);
  // Another process may have made them in the meantime, with a master key of its own.
  const sealed = found ?? (await sealedSecret(db.read));
  if (sealed === undefined) throw new Error('The keys that were made are gone.');
  if (masterKey === undefined || masterKeyFingerprint(masterKey) !== sealed.master_fingerprint)
    throw new MasterKeyMismatch(sealed.master_fingerprint, masterKey && masterKeyFingerprint(masterKey));
  const secret = unseal(masterKey, SECRET_PURPOSE, sealed.sealed_secret);
  if (secret === undefined) throw new Error('The secret in the table deployment_keys was changed.');
  const follow = watchSigningKeys(db, masterKey, source.onMismatch);
  // Whoever cannot open them finds out now, and not at the first request.
  for (const refusal of (await follow()).sealed.values()) throw refusal;
  const keys = createKeys(follow, Buffer.from(secret, 'base64url'), issuer);
  return { keys, masterKey };
}

/**
 * Holds the keys until the unit of work ends, and tells every instance that they change.
 * @throws WrongMasterKey when they are not, or no longer, sealed with this master key
 */
export async function lockKeys(tx: Transaction, masterKey: KeyObject): Promise<void> {
  await bumpSigningKeyVersion(tx);
  const sealed = await sealedSecret(tx);
  const fingerprint = masterKeyFingerprint(masterKey);
  if (sealed?.master_fingerprint !== fingerprint)
    throw new MasterKeyMismatch(sealed?.master_fingerprint ?? 'none', fingerprint);
}

/** Stores a signing key that signs from now on. The keys are held. */
export async function insertSigningKey(
  tx: Transaction,
  masterKey: KeyObject,
  key: PrivateKey,
  now: number,
): Promise<void> {
  const { newest } = await tx
    .selectFrom('signing_keys')
    .select((eb) => eb.fn.max('number').as('newest'))
    .executeTakeFirstOrThrow();
  await tx
    .insertInto('signing_keys')
    .values({
      kid: key.kid,
      number: (newest ?? 0) + 1,
      created_at: now,
      sealed_key: seal(masterKey, signingKeyPurpose(key.kid), JSON.stringify(key)),
    })
    .execute();
}

function createMasterKey(source: KeySource): KeyObject {
  if (!source.createsMasterKey) throw new KeysMissing('The database has no keys yet.');
  return createMasterKeyFile(source.dataDirectory);
}

async function insertKeys(db: Database, masterKey: KeyObject): Promise<void> {
  const key = await generateSigningKey();
  const secret = randomBytes(SECRET_LENGTH).toString('base64url');
  await db.write(async (tx) => {
    const made = await tx
      .insertInto('deployment_keys')
      .values({
        id: ROW,
        master_fingerprint: masterKeyFingerprint(masterKey),
        sealed_secret: seal(masterKey, SECRET_PURPOSE, secret),
      })
      .onConflict((conflict) => conflict.doNothing())
      .returning('id')
      .executeTakeFirst();
    if (made !== undefined) await insertSigningKey(tx, masterKey, key, Date.now());
  });
}

/** @returns a function to the signing keys as the database has them now, read again only once they changed */
function watchSigningKeys(
  db: Database,
  masterKey: KeyObject,
  outdated: KeySource['onMismatch'],
): () => Promise<SigningKeys> {
  const changes = new SingleFlight(() => readCredentialVersions(db.read));
  let held: { seen: number; keys: SigningKeys } | undefined;
  let told = false;
  return async () => {
    // Counted before the reading that it stands for, so that a change in between is seen next time.
    const { keys: seen } = await changes.run();
    if (held?.seen !== seen) {
      const keys = await readSigningKeys(db.read, masterKey, held?.keys.opened ?? []);
      held = { seen, keys };
      const [reason] = keys.sealed.values();
      if (reason !== undefined && !told) outdated?.(reason);
      told ||= reason !== undefined;
    }
    return held.keys;
  };
}

/**
 * @param opened keys that need not be opened again
 * @throws Error when a row is not what was put there
 */
async function readSigningKeys(
  db: ReadConnection,
  masterKey: KeyObject,
  opened: readonly PrivateKey[],
): Promise<{ opened: PrivateKey[]; sealed: Map<string, MasterKeyMismatch> }> {
  const rows = await db
    .selectFrom('signing_keys')
    .select(['kid', 'sealed_key'])
    .orderBy('number', 'desc')
    .execute();
  const keys: PrivateKey[] = [];
  const sealed = new Map<string, MasterKeyMismatch>();
  for (const { kid, sealed_key } of rows) {
    const known = opened.find((key) => key.kid === kid);
    const text = known === undefined ? unseal(masterKey, signingKeyPurpose(kid), sealed_key) : undefined;
    if (known !== undefined) keys.push(known);
    else if (text !== undefined) keys.push(JSON.parse(text) as PrivateKey);
    else sealed.set(kid, await explainUnsealFailure(db, masterKey, kid));
  }
  return { opened: keys, sealed };
}

/** @throws Error when the master key is the right one, so that the row is not what was put there */
async function explainUnsealFailure(
  db: ReadConnection,
  masterKey: KeyObject,
  kid: string,
): Promise<MasterKeyMismatch> {
  const needed = (await sealedSecret(db))?.master_fingerprint;
  const found = masterKeyFingerprint(masterKey);
  if (needed === undefined || needed === found)
    throw new Error(`The signing key ${kid} in the database was changed.`);
  return new MasterKeyMismatch(needed, found);
}

/** @returns the deployment's secret as it is stored, and with which master key; `undefined` before the first start */
export async function sealedSecret(
  db: ReadConnection,
): Promise<{ master_fingerprint: string; sealed_secret: string } | undefined> {
  return db
    .selectFrom('deployment_keys')
    .select(['master_fingerprint', 'sealed_secret'])
    .where('id', '=', ROW)
    .executeTakeFirst();
}

/** @returns what a signing key is sealed for: it names the key, so that one row's cannot stand in for another's */
export function signingKeyPurpose(kid: string): string {
  return `signing key ${kid}`;
}
