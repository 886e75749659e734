import { type KeyObject, randomBytes } from 'node:crypto';
import {
  type IssuerIdentity,
  type Keys,
  createKeys,
  generateSigningKey,
  type PrivateKey,
  type SigningKeys,
} from '../../auth/keys.ts';
import { masterKeyFingerprint, readMasterKeyFile, createMasterKeyFile } from '../../auth/master-key.ts';
import { encryptSecret, decryptSecret } from '../../auth/encrypt-secret.ts';
import { type Database, type ReadConnection, type Transaction, StorageError } from '../../db/database.ts';
import { SingleFlight } from '../../db/concurrency/single-flight.ts';
import { readCredentialVersions, bumpSigningKeyVersion } from './credentials.ts';

const SECRET_LENGTH = 32;
export const SECRET_PURPOSE = 'deployment secret';
/** The only row of `deployment_keys`. */
const ROW = 1;

/** The keys in the database are encrypted with another master key. */
export class MasterKeyMismatch extends StorageError {
  override name = 'MasterKeyMismatch';
  readonly expected: string;
  /** The fingerprint of the present one; `undefined` when there is none. */
  readonly actual: string | undefined;

  constructor(expected: string, actual: string | undefined) {
    super(
      'unavailable',
      `The keys in the database are encrypted with the master key ${expected}, not ${actual ?? 'with any here'}.`,
    );
    this.expected = expected;
    this.actual = actual;
  }
}

/** The database has no keys yet, and this process may not create them. */
export class KeysMissing extends Error {
  override name = 'KeysMissing';
}

export interface KeySource {
  /** Defaults to the key in the data folder. */
  masterKey: KeyObject | undefined;
  dataDirectory: string;
  /** Whether this process may create a master key in the data folder for a database without keys. */
  createsMasterKey: boolean;
  /** Called once when new keys cannot be opened, because they were encrypted with another master key. */
  onMismatch?: ((reason: MasterKeyMismatch) => void) | undefined;
}

/**
 * Loads the keys of a migrated database, and creates them if there are none. When several processes start together, one
 * creates them. Keys that are added or removed later take effect without a restart. If one of them cannot be decrypted,
 * because the master key of the database was changed, then signing, listing the public keys and verifying its tokens
 * throw.
 * @returns the keys and their master key
 * @throws MasterKeyMismatch when the keys are encrypted with another master key; KeysMissing when there are none
 */
export async function loadKeys(
  db: Database,
  source: KeySource,
  issuer: IssuerIdentity,
): Promise<{ keys: Keys; masterKey: KeyObject }> {
  const offered = source.masterKey ?? readMasterKeyFile(source.dataDirectory);
  const stored = await readEncryptedSecret(db.read);
  // A concurrent process writes the file before it creates the keys.
  const masterKey =
    offered ?? (stored === undefined ? createMasterKey(source) : readMasterKeyFile(source.dataDirectory));
  if (stored === undefined && masterKey !== undefined) await insertKeys(db, masterKey);
  // A concurrent process may have created the keys with its own master key.
  const encrypted = stored ?? (await readEncryptedSecret(db.read));
  if (encrypted === undefined) throw new Error('The keys that were inserted are gone.');
  if (masterKey === undefined || masterKeyFingerprint(masterKey) !== encrypted.master_fingerprint)
    throw new MasterKeyMismatch(encrypted.master_fingerprint, masterKey && masterKeyFingerprint(masterKey));
  const secret = decryptSecret(masterKey, SECRET_PURPOSE, encrypted.sealed_secret);
  if (secret === undefined) throw new Error('The secret in the table deployment_keys was changed.');
  const currentKeys = watchSigningKeys(db, masterKey, source.onMismatch);
  // Fail at the start rather than at the first request.
  for (const error of (await currentKeys()).unreadable.values()) throw error;
  const keys = createKeys(currentKeys, Buffer.from(secret, 'base64url'), issuer);
  return { keys, masterKey };
}

/**
 * Locks the keys until the transaction ends, and invalidates cached signing keys in all instances.
 * @throws MasterKeyMismatch
 */
export async function lockKeys(tx: Transaction, masterKey: KeyObject): Promise<void> {
  await bumpSigningKeyVersion(tx);
  const encrypted = await readEncryptedSecret(tx);
  const fingerprint = masterKeyFingerprint(masterKey);
  if (encrypted?.master_fingerprint !== fingerprint)
    throw new MasterKeyMismatch(encrypted?.master_fingerprint ?? 'none', fingerprint);
}

/** Inserts a key that signs from now on. Requires `lockKeys`. */
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
      sealed_key: encryptSecret(masterKey, signingKeyPurpose(key.kid), JSON.stringify(key)),
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
    const inserted = await tx
      .insertInto('deployment_keys')
      .values({
        id: ROW,
        master_fingerprint: masterKeyFingerprint(masterKey),
        sealed_secret: encryptSecret(masterKey, SECRET_PURPOSE, secret),
      })
      .onConflict((conflict) => conflict.doNothing())
      .returning('id')
      .executeTakeFirst();
    if (inserted !== undefined) await insertSigningKey(tx, masterKey, key, Date.now());
  });
}

/** @returns a function that returns the current signing keys, and reads them only after a change */
function watchSigningKeys(
  db: Database,
  masterKey: KeyObject,
  onMismatch: KeySource['onMismatch'],
): () => Promise<SigningKeys> {
  const versions = new SingleFlight(() => readCredentialVersions(db.read));
  let cached: { version: number; keys: SigningKeys } | undefined;
  let reported = false;
  return async () => {
    // Read before the keys, so that a change in between is noticed next time.
    const { keys: version } = await versions.run();
    if (cached?.version !== version) {
      const keys = await readSigningKeys(db.read, masterKey, cached?.keys.opened ?? []);
      cached = { version, keys };
      const [reason] = keys.unreadable.values();
      if (reason !== undefined && !reported) onMismatch?.(reason);
      reported ||= reason !== undefined;
    }
    return cached.keys;
  };
}

/**
 * @param opened keys that need not be decrypted again
 * @throws Error when a row was tampered with
 */
async function readSigningKeys(
  db: ReadConnection,
  masterKey: KeyObject,
  opened: readonly PrivateKey[],
): Promise<{ opened: PrivateKey[]; unreadable: Map<string, MasterKeyMismatch> }> {
  const rows = await db
    .selectFrom('signing_keys')
    .select(['kid', 'sealed_key'])
    .orderBy('number', 'desc')
    .execute();
  const keys: PrivateKey[] = [];
  const unreadable = new Map<string, MasterKeyMismatch>();
  for (const { kid, sealed_key } of rows) {
    const openKey = opened.find((key) => key.kid === kid);
    const text =
      openKey === undefined ? decryptSecret(masterKey, signingKeyPurpose(kid), sealed_key) : undefined;
    if (openKey !== undefined) keys.push(openKey);
    else if (text !== undefined) keys.push(JSON.parse(text) as PrivateKey);
    else unreadable.set(kid, await explainDecryptionFailure(db, masterKey, kid));
  }
  return { opened: keys, unreadable };
}

/** @throws Error when the master key is right, so that the row was tampered with */
async function explainDecryptionFailure(
  db: ReadConnection,
  masterKey: KeyObject,
  kid: string,
): Promise<MasterKeyMismatch> {
  const expected = (await readEncryptedSecret(db))?.master_fingerprint;
  const actual = masterKeyFingerprint(masterKey);
  if (expected === undefined || expected === actual)
    throw new Error(`The signing key ${kid} in the database was changed.`);
  return new MasterKeyMismatch(expected, actual);
}

/**
 * @returns the encrypted secret of the deployment and the fingerprint of its master key; `undefined` before the first
 *   start
 */
export async function readEncryptedSecret(
  db: ReadConnection,
): Promise<{ master_fingerprint: string; sealed_secret: string } | undefined> {
  return db
    .selectFrom('deployment_keys')
    .select(['master_fingerprint', 'sealed_secret'])
    .where('id', '=', ROW)
    .executeTakeFirst();
}

/** Binds the encrypted key to its kid, so that rows cannot be swapped. */
export function signingKeyPurpose(kid: string): string {
  return `signing key ${kid}`;
}
