import { randomUUID } from 'node:crypto';
import { type Caller, operatorCaller } from '../../../src/auth/callers.ts';
import type { Database, Transaction } from '../../../src/db/database.ts';
import { planListingUpdate, updateListingAssets } from '../../../src/domain/assessments/update-listing.ts';
import { DomainError } from '../../../src/domain/shared/errors.ts';
import { reserveBlob } from '../../../src/domain/shared/files.ts';
import { attachFiles, deleteAttachment } from '../../../src/domain/vulnerabilities/attachments.ts';
import { bulkUpdateVulnerabilities } from '../../../src/domain/vulnerabilities/bulk/update.ts';
import { createComment } from '../../../src/domain/vulnerabilities/comments.ts';
import { readVulnerability } from '../../../src/domain/vulnerabilities/read-vulnerability.ts';
import { replaceVulnerability } from '../../../src/domain/vulnerabilities/replace-vulnerability.ts';
import { decideRetest, requestRetest } from '../../../src/domain/vulnerabilities/retests.ts';
import { updateVulnerability } from '../../../src/domain/vulnerabilities/update-vulnerability.ts';
import type { Severity } from '../../../src/domain/shared/statuses-and-severities.ts';
import type { Touch } from './generate.ts';

/** A staff account with all scopes. */
export interface Person {
  id: number;
  uid: string;
}

const MAX_ATTACHMENTS = 100;

/** @returns the caller of one request of a person */
export const requestOf = ({ id, uid }: Person): Caller => ({
  ...operatorCaller(randomUUID()),
  kind: 'user',
  userId: id,
  uid,
});

/**
 * Changes a finding as a person.
 * @returns whether anything changed
 */
export async function touchFinding(
  db: Database,
  person: Person,
  { touch, id, at }: { touch: Exclude<Touch, { do: 'scope' }>; id: number; at: number },
): Promise<boolean> {
  const by = { actor: requestOf(person), now: at };
  try {
    return await db.write(async (tx) => {
      const before = await versionOf(tx, id);
      await change(tx, by, person, id, touch);
      return touch.do === 'attach' || touch.do === 'comment' || (await versionOf(tx, id)) !== before;
    });
  } catch (error) {
    // A retest of a finding that is closed.
    if (error instanceof DomainError && error.kind === 'conflict') return false;
    throw error;
  }
}

async function versionOf(tx: Transaction, id: number): Promise<string> {
  const { version, retest_status } = await tx
    .selectFrom('vulnerabilities')
    .select(['version', 'retest_status'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return `${version} ${retest_status}`;
}

async function change(
  tx: Transaction,
  by: { actor: Caller; now: number },
  person: Person,
  id: number,
  touch: Exclude<Touch, { do: 'scope' }>,
): Promise<unknown> {
  const current = () => readVulnerability(tx, by.actor, id);
  switch (touch.do) {
    case 'status':
      return updateVulnerability(tx, by, id, { statusId: touch.status });
    case 'add-tag': {
      const names = (await current()).tags.map(({ name }) => name);
      return updateVulnerability(tx, by, id, { tagNames: [...names, touch.tag] });
    }
    case 'remove-tag': {
      const names = (await current()).tags.map(({ name }) => name);
      return updateVulnerability(tx, by, id, { tagNames: names.filter((name) => name !== touch.tag) });
    }
    case 'replace': {
      const { cvssScore, cvssVector, exploitableLocations, severity, ...finding } = await current();
      return replaceVulnerability(tx, by, id, {
        ...finding,
        assessment: undefined,
        severity: severity as Severity,
        ...(cvssVector === null ? { cvssScore } : { cvssVector }),
        exploitableLocations: exploitableLocations.map(({ type, value }) => ({ type, value })),
        // Scanners report none.
        validationSteps: undefined,
        tagIds: undefined,
        tagNames: undefined,
        assigneeId: undefined,
        ...touch.fields,
      });
    }
    case 'attach': {
      const [attachment] = (await current()).attachments;
      if (attachment !== undefined)
        return deleteAttachment(tx, by, { vulnerabilityId: id, id: attachment.id });
      const key = randomUUID();
      await reserveBlob(tx, key, by.now);
      const content = { key, sha256: key.replaceAll('-', '').repeat(2), size: 1 };
      const file = { filename: 'proof.txt', contentType: 'text/plain', content };
      return attachFiles(tx, by, id, [file], MAX_ATTACHMENTS);
    }
    case 'comment':
      return createComment(tx, by, id, { text: 'A comment.', internal: false });
    case 'retest': {
      const requested = await tx
        .selectFrom('retests')
        .select('id')
        .where('vulnerability_id', '=', id)
        .where('status', '=', 'requested')
        .executeTakeFirst();
      // Who requested it does not decide it.
      const byOperator = { ...by, actor: operatorCaller(randomUUID()) };
      return requested === undefined
        ? requestRetest(tx, by, id, 'Please test again.')
        : decideRetest(tx, byOperator, { vulnerabilityId: id, id: requested.id }, { status: touch.decision });
    }
    case 'bulk': {
      const { assigns, ...set } = touch.set;
      return bulkUpdateVulnerabilities(tx, by, {
        ids: [id],
        set: { ...set, ...(assigns === true ? { assigneeId: person.id } : {}) },
      });
    }
  }
}

/** Sets the scope rules of an asset in an assessment as a person (operation 11). */
export async function touchScope(
  db: Database,
  person: Person,
  { assessment, assetUid, rule, at }: { assessment: string; assetUid: string; rule: string; at: number },
): Promise<void> {
  const plan = planListingUpdate({ add: [{ assetUid, scopeRules: [{ rule }] }] });
  await db.write((tx) => updateListingAssets(tx, { actor: requestOf(person), now: at }, assessment, plan));
}
