import { describe, expect, it } from 'vitest';
import {
  type CoveringScope,
  deriveFinding,
  type FindingFacts,
  type StoredDetection,
} from '../../src/domain/imports/derive-finding.ts';

const detected = (
  importId: number,
  seenAt: number,
  overrides: Partial<StoredDetection> = {},
): StoredDetection => ({
  importId,
  firstSeenAt: seenAt,
  seenAt,
  content: 0,
  createsVulnerability: true,
  isTimed: true,
  carriedStatusId: null,
  ...overrides,
});
const lacking = (importId: number, coveredAt: number, isFixing = false): CoveringScope => ({
  importId,
  coveredAt,
  isFixing,
});
const derive = (facts: Partial<FindingFacts>) =>
  deriveFinding({ detections: [], scopes: [], decisions: [], firstEditedAt: null, ...facts });

describe('A finding', () => {
  it('does not exist if no import created it and no person changed it', () => {
    expect(derive({ detections: [detected(1, 10, { createsVulnerability: false })] })).toBeUndefined();
    expect(
      derive({ detections: [detected(1, 10, { createsVulnerability: false })], firstEditedAt: 20 }),
    ).toMatchObject({
      importId: null,
      firstSeenAt: 10,
      statusId: 1,
    });
  });

  it('is created by the earliest import that is not below its minimum severity', () => {
    const detections = [detected(3, 30), detected(2, 20), detected(1, 10, { createsVulnerability: false })];
    expect(derive({ detections })).toMatchObject({ importId: 2, firstSeenAt: 10 });
  });

  it('ignores detections of unknown time if one has a known time', () => {
    const detections = [detected(1, 50, { isTimed: false }), detected(2, 10)];
    const scopes = [lacking(3, 20)];
    expect(derive({ detections, scopes })).toMatchObject({ importId: 2, goneAt: 20 });
    expect(derive({ detections: detections.slice(0, 1), scopes })).toMatchObject({
      importId: 1,
      goneAt: null,
    });
  });

  it('is gone by the first report without it, or by the one that fixed it, until it is seen again', () => {
    const detections = [detected(1, 10)];
    const scopes = [lacking(4, 40), lacking(3, 30)];
    expect(derive({ detections, scopes: scopes })).toMatchObject({
      goneAt: 30,
      goneImportId: 3,
      statusId: 1,
    });
    const fixed = [...scopes, lacking(5, 50, true), lacking(6, 60, true)];
    expect(derive({ detections, scopes: fixed })).toMatchObject({
      goneAt: 50,
      goneImportId: 5,
      statusId: 5,
      closedAt: 50,
    });
    expect(derive({ detections: [...detections, detected(7, 70)], scopes: fixed })).toMatchObject({
      goneAt: null,
      statusId: 2,
      closedAt: null,
    });
  });

  it('of two reports of one time shows the later upload', () => {
    expect(derive({ detections: [detected(1, 10)], scopes: [lacking(2, 10)] })).toMatchObject({ goneAt: 10 });
    expect(derive({ detections: [detected(2, 10)], scopes: [lacking(1, 10)] })).toMatchObject({
      goneAt: null,
    });
  });

  it('keeps a decision against earlier reports and follows later ones', () => {
    const detections = [detected(1, 10)];
    const decisions = [{ at: 100, statusId: 3 }];
    const before = derive({ detections, decisions, firstEditedAt: 100, scopes: [lacking(2, 50, true)] });
    expect(before).toMatchObject({ statusId: 3, decidedAt: 100, closedAt: null });
    const after = derive({ detections, decisions, firstEditedAt: 100, scopes: [lacking(2, 150, true)] });
    expect(after).toMatchObject({ statusId: 5, decidedAt: null, closedAt: 150 });
    const dismissed = derive({
      detections: [...detections, detected(3, 200)],
      decisions: [{ at: 100, statusId: 6 }],
      scopes: [lacking(2, 150, true)],
      firstEditedAt: 100,
    });
    expect(dismissed).toMatchObject({ statusId: 6, closedAt: 100 });
  });

  it('that a person reopened stays open until it is seen again', () => {
    const scopes = [lacking(2, 20, true), lacking(3, 200, true)];
    const decisions = [{ at: 100, statusId: 3 }];
    expect(derive({ detections: [detected(1, 10)], scopes, decisions, firstEditedAt: 100 })).toMatchObject({
      statusId: 3,
      goneAt: 20,
    });
    const detections = [detected(1, 10), detected(4, 150)];
    expect(derive({ detections: detections, scopes, decisions, firstEditedAt: 100 })).toMatchObject({
      statusId: 5,
    });
  });

  it('takes a carried decision only from the import that makes it', () => {
    const carrying = detected(2, 20, { carriedStatusId: 6 });
    expect(derive({ detections: [carrying] })).toMatchObject({ statusId: 6, closedAt: 20 });
    expect(derive({ detections: [carrying, detected(1, 10)] })).toMatchObject({
      statusId: 1,
      closedAt: null,
    });
  });

  it('follows a retest only from the status that waits for it', () => {
    const retestRequest = { at: 100, retest: 'requested' } as const;
    const facts = { detections: [detected(1, 10)], firstEditedAt: 100 };
    expect(derive({ ...facts, decisions: [retestRequest] })).toMatchObject({
      statusId: 4,
      statusBeforeRetest: 1,
    });
    expect(derive({ ...facts, decisions: [retestRequest, { at: 120, retest: 'failed' }] })).toMatchObject({
      statusId: 3,
    });
    const blocked = [retestRequest, { at: 120, retest: 'blocked' } as const];
    expect(derive({ ...facts, decisions: blocked })).toMatchObject({ statusId: 1 });
    // A report has fixed it meanwhile.
    expect(derive({ ...facts, decisions: blocked, scopes: [lacking(2, 110, true)] })).toMatchObject({
      statusId: 5,
      closedAt: 110,
    });
  });
});
