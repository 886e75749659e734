import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { SCOPES } from '../src/auth/scopes.ts';
import { cliChangeContext } from '../src/auth/callers.ts';
import { createVulnerabilityTag } from '../src/domain/vulnerabilities/vulnerability-tags.ts';
import {
  waitForImport,
  type FormPart,
  formOf,
  insertImport,
  insertGoneFindings,
  uploadReport,
} from './harness/imports.ts';
import { operationsOf, type RoutedOperation } from './harness/operations.ts';
import { engine, type RequestOptions, useOwnServer } from './harness/server.ts';
import { createFixtures } from './harness/fixtures.ts';
import { readAndRecount } from './harness/vulnerability-counters.ts';

/** The objects of a tenant that requests refer to. */
interface Names {
  organization: string;
  organizationId: number;
  assessment: string;
  /** Empty. */
  spareAssessment: string;
  vulnerability: number;
  vulnerabilityTag: number;
  /** The id of an open vulnerability without a retest. */
  openVulnerability: number;
  attachment: number;
  comment: number;
  retest: number;
  assessmentTag: number;
  assetTag: string;
  asset: string;
  /** The uid of an asset that is in no listing. */
  spareAsset: string;
  group: number;
  testingSession: number;
  userId: number;
  userUid: string;
  tokenId: string;
  /** An ended import and a queued one. */
  import: number;
  waitingImport: number;
}

interface Attempt {
  method: string;
  path: string;
  body?: unknown;
  /** Sent as a file. */
  file?: string;
  /** Sent as a form. */
  form?: readonly FormPart[];
}

/**
 * Attempts to reach `other` through each operation: by the URL of a foreign object, or by a reference to one from an
 * own object.
 */
const OPERATIONS: Record<string, (other: Names, own: Names) => Attempt> = {
  '1 delete a vulnerability tag': (other) => ({
    method: 'DELETE',
    path: `/v1/vulnerability_tags/${other.vulnerabilityTag}`,
  }),
  '2 rename a vulnerability tag': (other) => ({
    method: 'PUT',
    path: `/v1/vulnerability_tags/${other.vulnerabilityTag}`,
    body: { name: 'stolen' },
  }),
  '3 tag an assessment': (other) => ({
    method: 'POST',
    path: '/v1/assessment_tags',
    body: { name: 'stolen', assessment_id: other.assessment },
  }),
  '4 rename an assessment tag': (other) => ({
    method: 'PUT',
    path: `/v1/assessment_tags/${other.assessmentTag}`,
    body: { name: 'stolen' },
  }),
  '15 list vulnerabilities of others': (other) => ({
    method: 'GET',
    path: `/v1/vulnerabilities?filter[organization_uid][]=${other.organization}`,
  }),
  '15 search for what others have': (other) => ({
    method: 'GET',
    path: `/v1/vulnerabilities?filter[search]=${other.assessment}`,
  }),
  '15 filter by the things of others': (other) => ({
    method: 'GET',
    path: `/v1/vulnerabilities?filter[tag_id][]=${other.vulnerabilityTag}&filter[include_attachments]=false`,
  }),
  '15 filter by the assets of others': (other) => ({
    method: 'GET',
    path: `/v1/vulnerabilities?filter[asset_uid][]=${other.asset}`,
  }),
  '15 filter by the imports of others': (other) => ({
    method: 'GET',
    path: `/v1/vulnerabilities?filter[gone_import_id][]=${other.import}`,
  }),
  '83 summarize the vulnerabilities of others': (other) => ({
    method: 'GET',
    path: `/v1/vulnerabilities/summary?filter[assessment_id][]=${other.assessment}`,
  }),
  '16 read a vulnerability': (other) => ({
    method: 'GET',
    path: `/v1/vulnerabilities/${other.vulnerability}`,
  }),
  '17 the catalogue of statuses': () => ({ method: 'GET', path: '/v1/vulnerability_statuses' }),
  '18 report a vulnerability in an assessment': (other) => ({
    method: 'POST',
    path: '/v1/vulnerabilities',
    body: { assessment_id: other.assessment, title: 'stolen', severity: 'Low' },
  }),
  '18 name things in an own vulnerability': (other, own) => ({
    method: 'POST',
    path: '/v1/vulnerabilities',
    body: {
      assessment_id: own.assessment,
      title: 'stolen',
      severity: 'Low',
      tags: [other.vulnerabilityTag],
      asset_uids: [other.asset],
      assignee_id: other.userId,
    },
  }),
  '19 edit a vulnerability': (other) => ({
    method: 'PUT',
    path: `/v1/vulnerabilities/${other.vulnerability}`,
    body: { title: 'stolen', severity: 'Low' },
  }),
  '19 move an own vulnerability': (other, own) => ({
    method: 'PUT',
    path: `/v1/vulnerabilities/${own.vulnerability}`,
    body: { title: 'stolen', severity: 'Low', assessment_id: other.assessment, asset_uids: [other.asset] },
  }),
  '20 delete a vulnerability': (other) => ({
    method: 'DELETE',
    path: `/v1/vulnerabilities/${other.vulnerability}`,
  }),
  '5 update a vulnerability': (other) => ({
    method: 'PATCH',
    path: `/v1/vulnerabilities/${other.vulnerability}`,
    body: { status_id: 5, tag_list: ['stolen'] },
  }),
  '5 use a tag on an own vulnerability': (other, own) => ({
    method: 'PATCH',
    path: `/v1/vulnerabilities/${own.vulnerability}`,
    body: { tags: [other.vulnerabilityTag] },
  }),
  '6 ban a user': (other) => ({ method: 'DELETE', path: `/v1/users/${other.userId}` }),
  '7 read testing hours': (other) => ({
    method: 'GET',
    path: `/v1/assessments/${other.assessment}/testing_hours`,
  }),
  '8 create tags': (other) => ({
    method: 'POST',
    path: `/api/tagging/v1.0/organizations/${other.organization}/tags`,
    body: { tags: [{ name: 'stolen' }] },
  }),
  '8 create a tag on an asset': (other, own) => ({
    method: 'POST',
    path: `/api/tagging/v1.0/organizations/${own.organization}/tags`,
    body: { tags: [{ name: 'stolen', entities: [{ uid: other.asset }] }] },
  }),
  '9 change tags': (other) => ({
    method: 'PATCH',
    path: `/api/tagging/v1.0/organizations/${other.organization}/tags`,
    body: { uids: [other.assetTag], addEntities: [{ uid: other.asset }] },
  }),
  '9 change a tag within the own organization': (other, own) => ({
    method: 'PATCH',
    path: `/api/tagging/v1.0/organizations/${own.organization}/tags`,
    body: { uids: [other.assetTag] },
  }),
  '9 attach an asset to an own tag': (other, own) => ({
    method: 'PATCH',
    path: `/api/tagging/v1.0/organizations/${own.organization}/tags`,
    body: { uids: [own.assetTag], addEntities: [{ uid: other.asset }] },
  }),
  '9 detach an asset from an own tag': (other, own) => ({
    method: 'PATCH',
    path: `/api/tagging/v1.0/organizations/${own.organization}/tags`,
    body: { uids: [own.assetTag], delEntityUids: [other.asset] },
  }),
  '10 set criticality': (other) => ({
    method: 'POST',
    path: '/api/asset/v2/bulk/assets/criticality:update',
    body: { organizationUid: other.organization, criticality: 'high', assetUids: [other.asset] },
  }),
  '10 set criticality in the name of the own organization': (other, own) => ({
    method: 'POST',
    path: '/api/asset/v2/bulk/assets/criticality:update',
    body: { organizationUid: own.organization, criticality: 'high', assetUids: [other.asset] },
  }),
  '11 change a listing': (other) => ({
    method: 'PATCH',
    path: `/api/asset/v2/listings/${other.assessment}/assets`,
    body: { remove: [other.asset] },
  }),
  '11 add an asset to an own listing': (other, own) => ({
    method: 'PATCH',
    path: `/api/asset/v2/listings/${own.assessment}/assets`,
    body: { add: [{ assetUid: other.asset, scopeRules: [{ rule: 'all' }] }] },
  }),
  '12 list members': (other) => ({
    method: 'GET',
    path: `/api/assessment/v1/assessment-groups/${other.group}/members`,
  }),
  '13 remove members': (other) => ({
    method: 'POST',
    path: `/api/assessment/v1/assessment-groups/${other.group}/members/batchRemove`,
    body: { userUids: [other.userUid] },
  }),
  '13 remove a user from an own group': (other, own) => ({
    method: 'POST',
    path: `/api/assessment/v1/assessment-groups/${own.group}/members/batchRemove`,
    body: { userUids: [other.userUid] },
  }),
  '21 attach files': (other) => ({
    method: 'POST',
    path: `/v1/vulnerabilities/${other.vulnerability}/attachments`,
    file: 'stolen',
  }),
  '22 download an attachment': (other) => ({
    method: 'GET',
    path: `/v1/vulnerabilities/${other.vulnerability}/attachments/${other.attachment}`,
  }),
  '22 download an attachment through an own vulnerability': (other, own) => ({
    method: 'GET',
    path: `/v1/vulnerabilities/${own.vulnerability}/attachments/${other.attachment}`,
  }),
  '23 delete an attachment through an own vulnerability': (other, own) => ({
    method: 'DELETE',
    path: `/v1/vulnerabilities/${own.vulnerability}/attachments/${other.attachment}`,
  }),
  '24 list comments': (other) => ({
    method: 'GET',
    path: `/v1/vulnerabilities/${other.vulnerability}/comments`,
  }),
  '25 comment': (other) => ({
    method: 'POST',
    path: `/v1/vulnerabilities/${other.vulnerability}/comments`,
    body: { text: 'stolen' },
  }),
  '26 edit a comment': (other) => ({
    method: 'PATCH',
    path: `/v1/vulnerabilities/${other.vulnerability}/comments/${other.comment}`,
    body: { text: 'stolen' },
  }),
  '26 edit a comment through an own vulnerability': (other, own) => ({
    method: 'PATCH',
    path: `/v1/vulnerabilities/${own.vulnerability}/comments/${other.comment}`,
    body: { text: 'stolen' },
  }),
  '26 remove a comment through an own vulnerability': (other, own) => ({
    method: 'DELETE',
    path: `/v1/vulnerabilities/${own.vulnerability}/comments/${other.comment}`,
  }),
  '27 list retests': (other) => ({
    method: 'GET',
    path: `/v1/vulnerabilities/${other.vulnerability}/patch_verifications`,
  }),
  '28 ask for a retest': (other) => ({
    method: 'POST',
    path: `/v1/vulnerabilities/${other.openVulnerability}/patch_verifications`,
    body: { message: 'stolen' },
  }),
  '29 decide a retest': (other) => ({
    method: 'PATCH',
    path: `/v1/vulnerabilities/${other.vulnerability}/patch_verifications/${other.retest}`,
    body: { status: 'cancelled' },
  }),
  '31 read a timeline': (other) => ({
    method: 'GET',
    path: `/v1/vulnerabilities/${other.vulnerability}/timeline`,
  }),
  '32 list vulnerability tags': (other) => ({
    method: 'GET',
    path: `/v1/vulnerability_tags?filter[organization_uid][]=${other.organization}`,
  }),
  '30 change many vulnerabilities': (other) => ({
    method: 'POST',
    path: '/v1/vulnerabilities/bulk_update',
    body: { ids: [other.vulnerability], set: { status_id: 4, add_tags: ['stolen'] }, comment: 'stolen' },
  }),
  '30 change many vulnerabilities by a filter': (other) => ({
    method: 'POST',
    path: '/v1/vulnerabilities/bulk_update',
    body: { filter: { id: [other.vulnerability] }, set: { status_id: 4, add_tags: ['stolen'] } },
  }),
  '30 use a tag on own vulnerabilities': (other, own) => ({
    method: 'POST',
    path: '/v1/vulnerabilities/bulk_update',
    body: { ids: [own.vulnerability], set: { tags: [other.vulnerabilityTag] } },
  }),
  '30 give own vulnerabilities to a user': (other, own) => ({
    method: 'POST',
    path: '/v1/vulnerabilities/bulk_update',
    body: { ids: [own.vulnerability], set: { assignee_id: other.userId } },
  }),
  '33 create a vulnerability tag': (other) => ({
    method: 'POST',
    path: '/v1/vulnerability_tags',
    body: { name: 'stolen', organization_profile_id: other.organizationId },
  }),
  '34 list assessment tags': (other) => ({
    method: 'GET',
    path: `/v1/assessment_tags?filter[organization_uid][]=${other.organization}`,
  }),
  '35 delete an assessment tag': (other) => ({
    method: 'DELETE',
    path: `/v1/assessment_tags/${other.assessmentTag}`,
  }),
  '52 who am I': () => ({ method: 'GET', path: '/v1/users/whoami' }),
  '53 list users': (other) => ({
    method: 'GET',
    path: `/v1/users?filter[organization_uid][]=${other.organization}`,
  }),
  '54 invite a user': (other) => ({
    method: 'POST',
    path: '/v1/users',
    body: { email: 'first@new.example', organization_uid: other.organization },
  }),
  '54 invite a user to an assessment': (other, own) => ({
    method: 'POST',
    path: '/v1/users',
    body: {
      email: 'second@new.example',
      organization_uid: own.organization,
      assessments: [other.assessment],
    },
  }),
  '55 read a user': (other) => ({ method: 'GET', path: `/v1/users/${other.userId}` }),
  '70 list asset tags': (other) => ({
    method: 'GET',
    path: `/api/tagging/v1.0/organizations/${other.organization}/tags`,
  }),
  '70 list own tags by an asset': (other, own) => ({
    method: 'GET',
    path: `/api/tagging/v1.0/organizations/${own.organization}/tags?entityUid[]=${other.asset}`,
  }),
  '71 read an asset tag': (other) => ({
    method: 'GET',
    path: `/api/tagging/v1.0/organizations/${other.organization}/tags/${other.assetTag}`,
  }),
  '71 read an asset tag through the own organization': (other, own) => ({
    method: 'GET',
    path: `/api/tagging/v1.0/organizations/${own.organization}/tags/${other.assetTag}`,
  }),
  '72 rename an asset tag': (other) => ({
    method: 'PUT',
    path: `/api/tagging/v1.0/organizations/${other.organization}/tags/${other.assetTag}`,
    body: { name: 'stolen' },
  }),
  '72 rename an asset tag through the own organization': (other, own) => ({
    method: 'PUT',
    path: `/api/tagging/v1.0/organizations/${own.organization}/tags/${other.assetTag}`,
    body: { name: 'stolen' },
  }),
  '73 delete asset tags through the own organization': (other, own) => ({
    method: 'DELETE',
    path: `/api/tagging/v1.0/organizations/${own.organization}/tags`,
    body: { uids: [own.assetTag, other.assetTag] },
  }),
  '56 change a user': (other) => ({
    method: 'PUT',
    path: `/v1/users/${other.userId}?admin=false`,
    body: { name: 'stolen', reactivate: true },
  }),
  '56 give access to an assessment': (other, own) => ({
    method: 'PUT',
    path: `/v1/users/${own.userId}`,
    body: { assessments: [own.assessment, other.assessment] },
  }),
  '57 list tokens': (other) => ({
    method: 'GET',
    path: `/v1/tokens?filter[organization_uid][]=${other.organization}`,
  }),
  // Refers to no object: valid for the own tenant, and invalid otherwise.
  '58 create a token': (other, own) => ({
    method: 'POST',
    path: '/v1/tokens',
    body: { name: 'mine', scopes: [other === own ? 'api' : 'none'] },
  }),
  '59 revoke a token': (other) => ({ method: 'DELETE', path: `/v1/tokens/${other.tokenId}` }),
  '36 list assessments': (other) => ({
    method: 'GET',
    path: `/v1/assessments?filter[organization_uid][]=${other.organization}`,
  }),
  '36 list the assessments of a group': (other) => ({
    method: 'GET',
    path: `/v1/assessments?assessment_group_id=${other.group}&filter[tag_id][]=${other.assessmentTag}`,
  }),
  '37 read an assessment': (other) => ({ method: 'GET', path: `/v1/assessments/${other.assessment}` }),
  '38 create an assessment': (other) => ({
    method: 'POST',
    path: '/v1/assessments',
    body: { name: 'stolen', organization_uid: other.organization },
  }),
  '38 create an assessment in a group': (other) => ({
    method: 'POST',
    path: '/v1/assessments',
    body: { name: 'stolen', assessment_group_id: other.group },
  }),
  '39 change an assessment': (other) => ({
    method: 'PATCH',
    path: `/v1/assessments/${other.assessment}`,
    body: { name: 'stolen' },
  }),
  '39 move an own assessment into a group': (other, own) => ({
    method: 'PATCH',
    path: `/v1/assessments/${own.assessment}`,
    body: { assessment_group_id: other.group },
  }),
  '39 put a tag on an own assessment': (other, own) => ({
    method: 'PATCH',
    path: `/v1/assessments/${own.assessment}`,
    body: { tags: [other.assessmentTag] },
  }),
  '42 list assessment groups': (other) => ({
    method: 'GET',
    path: `/v1/assessment_groups?filter[organization_uid][]=${other.organization}`,
  }),
  '43 read an assessment group': (other) => ({
    method: 'GET',
    path: `/v1/assessment_groups/${other.group}`,
  }),
  '44 create an assessment group': (other) => ({
    method: 'POST',
    path: '/v1/assessment_groups',
    body: { name: 'stolen', organization_uid: other.organization },
  }),
  '45 change an assessment group': (other) => ({
    method: 'PATCH',
    path: `/v1/assessment_groups/${other.group}`,
    body: { name: 'stolen' },
  }),
  '46 delete an assessment group': (other) => ({
    method: 'DELETE',
    path: `/v1/assessment_groups/${other.group}`,
  }),
  '41 list all testing sessions': (other) => ({
    method: 'GET',
    path: `/v1/testing_sessions?filter[assessment_id][]=${other.assessment}`,
  }),
  '41 list the testing sessions of an organization': (other) => ({
    method: 'GET',
    path: `/v1/testing_sessions?filter[organization_uid][]=${other.organization}`,
  }),
  '48 list testing sessions': (other) => ({
    method: 'GET',
    path: `/v1/assessments/${other.assessment}/testing_sessions`,
  }),
  '49 log a testing session': (other) => ({
    method: 'POST',
    path: `/v1/assessments/${other.assessment}/testing_sessions`,
    body: { started_at: '2026-01-01T10:00:00Z', ended_at: '2026-01-01T11:00:00Z', note: 'stolen' },
  }),
  '49 log the time of a user on an own assessment': (other, own) => ({
    method: 'POST',
    path: `/v1/assessments/${own.assessment}/testing_sessions`,
    body: {
      started_at: '2026-01-01T10:00:00Z',
      ended_at: '2026-01-01T11:00:00Z',
      tester_id: other.userId,
    },
  }),
  '50 correct a testing session': (other) => ({
    method: 'PATCH',
    path: `/v1/testing_sessions/${other.testingSession}`,
    body: { note: 'stolen' },
  }),
  '51 delete a testing session': (other) => ({
    method: 'DELETE',
    path: `/v1/testing_sessions/${other.testingSession}`,
  }),
  '40 list who has access to an assessment': (other) => ({
    method: 'GET',
    path: `/v1/assessments/${other.assessment}/users`,
  }),
  '40 give oneself access to an assessment': (other, own) => ({
    method: 'PATCH',
    path: `/v1/assessments/${other.assessment}/users`,
    body: { add: [own.userId] },
  }),
  '40 give a user access to an own assessment': (other, own) => ({
    method: 'PATCH',
    path: `/v1/assessments/${own.assessment}/users`,
    body: { add: [other.userId] },
  }),
  '47 add members': (other) => ({
    method: 'POST',
    path: `/api/assessment/v1/assessment-groups/${other.group}/members/batchAdd`,
    body: { members: [{ userUid: other.userUid, role: 'assessment_member' }] },
  }),
  '47 add a user to an own group': (other, own) => ({
    method: 'POST',
    path: `/api/assessment/v1/assessment-groups/${own.group}/members/batchAdd`,
    body: { members: [{ userUid: other.userUid, role: 'assessment_member' }] },
  }),
  '84 delete an assessment': (other) => ({
    method: 'DELETE',
    path: `/v1/assessments/${other.spareAssessment}`,
  }),
  '65 import hosts into an organization': (other) => ({
    method: 'POST',
    path: '/v1/imports',
    form: [['organization_uid', other.organization], REPORT],
  }),
  '65 import a report into an assessment': (other) => ({
    method: 'POST',
    path: '/v1/imports',
    form: [['assessment_id', other.assessment], REPORT],
  }),
  '66 list imports': (other) => ({
    method: 'GET',
    path: `/v1/imports?filter[organization_uid][]=${other.organization}`,
  }),
  '66 list the imports of an assessment': (other) => ({
    method: 'GET',
    path: `/v1/imports?filter[assessment_id][]=${other.assessment}`,
  }),
  '67 read an import': (other) => ({ method: 'GET', path: `/v1/imports/${other.import}` }),
  '68 follow an import': (other) => ({ method: 'GET', path: `/v1/imports/${other.import}/events` }),
  '69 cancel an import': (other) => ({ method: 'POST', path: `/v1/imports/${other.waitingImport}/cancel` }),
  '82 undo an import': (other) => ({ method: 'POST', path: `/v1/imports/${other.import}/undo` }),
  '61 list organizations': (other) => ({
    method: 'GET',
    path: `/v1/organizations?filter[organization_uid][]=${other.organization}`,
  }),
  '62 read an organization': (other) => ({ method: 'GET', path: `/v1/organizations/${other.organization}` }),
  // A conflict reveals that a uid is taken, so this one is invalid.
  '63 create an organization': () => ({
    method: 'POST',
    path: '/v1/organizations',
    body: { uid: 'No uid', name: 'stolen' },
  }),
  '64 change an organization': (other) => ({
    method: 'PATCH',
    path: `/v1/organizations/${other.organization}`,
    body: { name: 'stolen' },
  }),
  '60 read the audit log': (other) => ({
    method: 'GET',
    path: `/v1/audit_events?filter[organization_uid][]=${other.organization}`,
  }),
  '60 read what a user did': (other) => ({
    method: 'GET',
    path: `/v1/audit_events?filter[user_id]=${other.userId}`,
  }),
  '60 read what was done to a thing': (other) => ({
    method: 'GET',
    path: `/v1/audit_events?filter[object_id]=${other.assessment}`,
  }),
  '74 create an asset': (other) => ({
    method: 'POST',
    path: '/api/asset/v2/assets',
    body: { organizationUid: other.organization, assetType: 'host', location: '192.0.2.1' },
  }),
  '74 create an asset in a listing': (other, own) => ({
    method: 'POST',
    path: '/api/asset/v2/assets',
    body: [
      {
        organizationUid: own.organization,
        assetType: 'host',
        location: '192.0.2.2',
        listingUid: other.assessment,
      },
    ],
  }),
  '75 list assets': (other) => ({
    method: 'GET',
    path: `/api/asset/v2/assets?organizationUid[]=${other.organization}`,
  }),
  '75 list assets of a listing': (other) => ({
    method: 'GET',
    path: `/api/asset/v2/assets?listingUid[]=${other.assessment}`,
  }),
  '75 list assets with a tag': (other) => ({
    method: 'GET',
    path: `/api/asset/v2/assets?tagUid[]=${other.assetTag}`,
  }),
  '76 get an asset': (other) => ({ method: 'GET', path: `/api/asset/v2/assets/${other.asset}` }),
  '77 change an asset': (other) => ({
    method: 'PATCH',
    path: `/api/asset/v2/assets/${other.asset}`,
    body: { criticality: 'high' },
  }),
  '78 delete an asset': (other) => ({ method: 'DELETE', path: `/api/asset/v2/assets/${other.spareAsset}` }),
  '79 list assets of a listing': (other) => ({
    method: 'GET',
    path: `/api/asset/v2/listings/${other.assessment}/assets`,
  }),
  '80 list ports of an organization': (other) => ({
    method: 'GET',
    path: `/api/streaming/v1/${other.organization}/assets/ports`,
  }),
  '80 list ports of a listing': (other, own) => ({
    method: 'GET',
    path: `/api/streaming/v1/${own.organization}/assets/ports?listing_uid=${other.assessment}&include=assets`,
  }),
  '81 read the history of ports': (other) => ({
    method: 'GET',
    path: `/api/streaming/v1/${other.organization}/assets/${other.asset}/ports/history`,
  }),
  '14 read ports': (other) => ({
    method: 'GET',
    path: `/api/streaming/v1/${other.organization}/assets/${other.asset}/ports`,
  }),
  '14 read ports through the own organization': (other, own) => ({
    method: 'GET',
    path: `/api/streaming/v1/${own.organization}/assets/${other.asset}/ports`,
  }),
};

const REPORT: FormPart = ['file', '<?xml version="1.0"?><nmaprun></nmaprun>', 'a.xml'];

function sent({ form, file, body }: Attempt): RequestOptions {
  if (form !== undefined) return formOf(form);
  return file === undefined ? { body } : fileBody(file);
}

/** A `multipart/form-data` body with one file. */
function fileBody(content: string) {
  return {
    headers: { 'content-type': 'multipart/form-data; boundary=x' },
    raw: `--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n${content}\r\n--x--\r\n`,
  };
}

const NOTHING: Names = {
  organization: 'nosuchorganization',
  organizationId: 987_654_321,
  assessment: 'no-such-assessment',
  spareAssessment: 'nosuchassessment0',
  vulnerability: 987_654_321,
  vulnerabilityTag: 987_654_321,
  openVulnerability: 987_654_321,
  attachment: 987_654_321,
  comment: 987_654_321,
  retest: 987_654_321,
  assessmentTag: 987_654_321,
  assetTag: 'abcabcabcab0',
  asset: 'fffffffffffffffffffffff0',
  spareAsset: 'ffffffffffffffffffffff00',
  group: 987_654_321,
  testingSession: 987_654_321,
  userId: 987_654_321,
  userUid: 'no-such-user',
  tokenId: '00000000-0000-4000-8000-000000000000',
  import: 987_654_321,
  waitingImport: 987_654_321,
};

const TABLES = [
  'organizations',
  'organization_group_members',
  'users',
  'banned_addresses',
  'assessment_groups',
  'assessment_group_members',
  'assessment_group_member_counts',
  'assessments',
  'assessment_access',
  'assessment_tags',
  'assessment_taggings',
  'testing_sessions',
  'vulnerabilities',
  'vulnerability_tags',
  'vulnerability_taggings',
  'bulk_changes',
  'vulnerability_assets',
  'timeline_entries',
  'attachments',
  'comments',
  'retests',
  'files',
  'imports',
  'scanner_findings',
  'detections',
  'finding_contents',
  'scan_scopes',
  'untested_findings',
  'asset_detections',
  'host_detections',
  'host_observations',
  'port_sets',
  'assets',
  'asset_tags',
  'asset_taggings',
  'listing_assets',
  'ports',
  'port_counts',
  'port_events',
  'audit_events',
] as const;

interface Credential {
  name: string;
  token: string;
  /** Its only scope; absent for all scopes of its user. */
  scope?: string;
}

let fixtures: ReturnType<typeof createFixtures>;
let own: Names;
let other: Names;
const credentials: Credential[] = [];
/** All rows, as the previous test left them. */
let previousRows: string;
/** All operations, from the routes. */
let operations: RoutedOperation[];

// Each test compares all rows, so the server is not shared.
const server = await useOwnServer();
beforeAll(async () => {
  operations = await operationsOf(server);
  fixtures = createFixtures(server);
  const firstTenant = await tenant('one');
  const secondTenant = await tenant('two');
  own = firstTenant.names;
  other = secondTenant.names;
  // A missing scope is detected before any other query, so one engine is enough.
  const scopes = engine() === 'sqlite' ? Object.keys(SCOPES) : [];
  for (const [role, userId] of Object.entries(firstTenant.users)) {
    credentials.push({ name: `${role} with all scopes`, token: (await fixtures.token(userId)).token });
    for (const scope of scopes) {
      const issued = await fixtures.token(userId, { scopes: [scope] }).catch(() => undefined);
      if (issued !== undefined)
        credentials.push({ name: `${role} with ${scope}`, token: issued.token, scope });
    }
  }
  // Staff assigned to one organization have no access to others.
  const assigned = await fixtures.user({ assignedTo: ['one'] });
  credentials.push({ name: 'assigned staff with all scopes', token: assigned.token });
  for (const scope of scopes) {
    const issued = await fixtures.token(assigned.id, { scopes: [scope] }).catch(() => undefined);
    if (issued !== undefined)
      credentials.push({ name: `assigned staff with ${scope}`, token: issued.token, scope });
  }
  previousRows = await allRows();
});

/** A tenant with one object of each kind, and its users by role. */
async function tenant(uid: string) {
  const { db, clock } = server.context;
  const act = () => cliChangeContext(clock());
  const { id: organizationId } = await fixtures.organization(uid);
  const admin = await fixtures.user({ organization: uid, admin: true });
  const member = await fixtures.user({ organization: uid });
  const outsider = await fixtures.user({ organization: uid });
  const group = await fixtures.group(uid);
  await fixtures.member(group.id, admin.uid, 'rbac_group_admin');
  await fixtures.member(group.id, member.uid, 'infra_admin');
  const assessment = await fixtures.assessment(uid, `assessment-${uid}`, group.id);
  await fixtures.access(assessment.uid, member.id);
  const asset = await fixtures.asset({ organization: uid, type: 'host' });
  const tagger = await server.request('POST', `/api/tagging/v1.0/organizations/${uid}/tags`, {
    token: admin.token,
    body: { tags: [{ name: 'own', entities: [{ uid: asset.uid }] }] },
  });
  await server.request('PATCH', `/api/asset/v2/listings/${assessment.uid}/assets`, {
    token: (await fixtures.user()).token,
    body: { add: [{ assetUid: asset.uid, scopeRules: [{ rule: 'everything' }] }] },
  });
  const vulnerabilityTag = await db.write((tx) =>
    createVulnerabilityTag(tx, act(), { organization: { uid }, name: 'own' }),
  );
  const vulnerability = await fixtures.vulnerability(assessment.uid, {
    title: 'Finding',
    cvssScore: 7,
    tagIds: [vulnerabilityTag.id],
  });
  const openVulnerability = await fixtures.vulnerability(assessment.uid);
  const vulnerabilityPath = `/v1/vulnerabilities/${vulnerability.id}`;
  const { token } = admin;
  const comment = await server.request('POST', `${vulnerabilityPath}/comments`, {
    token,
    body: { text: 'own' },
  });
  const attachment = await server.request('POST', `${vulnerabilityPath}/attachments`, {
    token,
    ...fileBody('own'),
  });
  const retest = await server.request('POST', `${vulnerabilityPath}/patch_verifications`, {
    token,
    body: { message: 'own' },
  });
  const assessmentTag = await server.request('POST', '/v1/assessment_tags', {
    token: admin.token,
    body: { name: 'own', assessment_id: assessment.uid },
  });
  const started = await uploadReport(server, token, REPORT[1], { assessment_id: assessment.uid });
  await waitForImport(server, token, started.body.id);
  await insertGoneFindings(server, { ids: [vulnerability.id], by: started.body.id, at: 2 });
  const names: Names = {
    organization: uid,
    organizationId,
    assessment: assessment.uid,
    spareAssessment: (await fixtures.assessment(uid, `spare-${uid}`)).uid,
    vulnerability: vulnerability.id,
    vulnerabilityTag: vulnerabilityTag.id,
    openVulnerability: openVulnerability.id,
    attachment: attachment.body[0].id,
    comment: comment.body.id,
    retest: retest.body.id,
    assessmentTag: assessmentTag.body.id,
    assetTag: tagger.body.tags[0].uid,
    asset: asset.uid,
    spareAsset: (await fixtures.asset({ organization: uid })).uid,
    group: group.id,
    testingSession: (await fixtures.testingSession(assessment.uid, member.id, 1, 2)).id,
    userId: member.id,
    userUid: member.uid,
    tokenId: (await fixtures.token(admin.id)).id,
    import: started.body.id,
    waitingImport: await insertImport(server, { organizationId }),
  };
  return { names, users: { admin: admin.id, member: member.id, outsider: outsider.id } };
}

async function allRows() {
  const rows: Record<string, unknown[]> = {};
  for (const table of TABLES)
    rows[table] = await server.context.db.read.selectFrom(table).selectAll().execute();
  // A bulk change without matches is stored for its user.
  rows['bulk_changes'] =
    rows['bulk_changes']?.filter((row) => (row as { replaced: string }).replaced !== '[]') ?? [];
  // A job merges one table into the other.
  const counts = await sql<object>`select kind, subject, bucket, cast(sum(amount) as bigint) as amount
    from (select kind, subject, bucket, amount from counters
      union all select kind, subject, bucket, amount from counter_deltas) as counts
    where kind in ('organization-ports', 'vulnerability-tag', 'asset') group by kind, subject, bucket`.execute(
    server.context.db.read,
  );
  const organizations = await server.context.db.read.selectFrom('organizations').select('id').execute();
  const recounts = await Promise.all(
    organizations.map(({ id }) => readAndRecount(server.context.db, id, Date.now())),
  );
  rows['counters'] = [...counts.rows, ...recounts.map(({ counters }) => counters)];
  return JSON.stringify(rows, (_key, value: unknown) =>
    Array.isArray(value) ? value.map((row) => JSON.stringify(row)).sort() : value,
  );
}

/** The response as the caller sees it, without the names from the request and the request id. */
async function responseTo(credential: Credential, attempt: Attempt, names: Names) {
  const { token } = credential;
  const response = await server.request(attempt.method, attempt.path, {
    token,
    ...sent(attempt),
  });
  let text = response.text.replaceAll(response.headers.get('x-request-id') ?? '', '…');
  for (const name of Object.values(names)) {
    // Short ids are replaced only where the response repeats them.
    text = text.replaceAll(`"value":"${name}"`, '"value":"…"');
    if (String(name).length > 8) text = text.replaceAll(String(name), '…');
  }
  text = text.replace(/"processedAt":"[^"]*"/, '');
  // Changes over time, and is `null` until the use of the token has been stored.
  text = text.replace(/"last_seen_at":(?:"[^"]*"|null)/, '');
  return `${response.status} ${text} ${response.headers.get('www-authenticate') ?? ''}`;
}

function operationOf({ method, path }: Attempt): RoutedOperation {
  const [pathname = ''] = path.split('?', 1);
  const operation = operations.find(
    (candidate) => candidate.method === method && candidate.pattern.test(pathname),
  );
  if (operation === undefined) throw new Error(`No operation has ${method} ${path}.`);
  return operation;
}

describe('Tenant isolation', () => {
  it.each(Object.keys(OPERATIONS))('%s', async (operation) => {
    const build = OPERATIONS[operation] as (other: Names, own: Names) => Attempt;
    const { scopes } = operationOf(build(other, own));
    // test/http/common-errors.test.ts tests that any other scope is rejected before the request is read.
    const accepted = credentials.filter(({ scope }) => scope === undefined || scopes.includes(scope));
    await Promise.all(
      accepted.map(async (credential) => {
        const foreign = await responseTo(credential, build(other, own), other);
        const unknownResponse = await responseTo(credential, build(NOTHING, own), NOTHING);
        expect([credential.name, foreign]).toEqual([credential.name, unknownResponse]);
        expect(foreign).not.toMatch(/^5/);
      }),
    );
    const after = await allRows();
    const before = previousRows;
    previousRows = after;
    expect(after).toBe(before);
  });

  it('covers every operation', () => {
    const attempts = Object.values(OPERATIONS).map((build) => build(NOTHING, NOTHING));
    const missing = operations.filter(
      ({ method, pattern }) =>
        !attempts.some(
          (attempt) => attempt.method === method && pattern.test(attempt.path.split('?', 1)[0] ?? ''),
        ),
    );
    expect(operations.length).toBeGreaterThanOrEqual(14);
    expect(missing.map(({ name }) => name)).toEqual([]);
  });

  it('the same requests succeed within the own tenant', async () => {
    const admin = credentials.find(({ name }) => name === 'admin with all scopes') as Credential;
    const rejected: string[] = [];
    // Removals, deletions and bans last, each in descending order of the operations: parts before what contains them,
    // users after everything that refers to them.
    const ending = (name: string) =>
      [/^\d+ remove /, /^\d+ delete /, /^\d+ ban /].findIndex((pattern) => pattern.test(name));
    const number = (name: string) => (ending(name) < 0 ? 0 : -parseInt(name, 10));
    // Operations for staff only are tested elsewhere.
    const forAdmins = Object.entries(OPERATIONS).filter(([name]) => !name.startsWith('63 '));
    const inOrder = forAdmins.sort(([a], [b]) => ending(a) - ending(b) || number(a) - number(b));
    for (const [name, build] of inOrder) {
      const attempt = build(own, own);
      const body = JSON.parse(
        JSON.stringify(attempt.body ?? null).replaceAll('stolen', `mine ${name}`),
      ) as unknown;
      const response = await server.request(attempt.method, attempt.path, {
        token: admin.token,
        ...sent({ ...attempt, body: body ?? undefined }),
      });
      const done = response.status < 300 && (response.body?.metadata?.counts?.error ?? 0) === 0;
      if (!done) rejected.push(`${name}: ${response.status} ${response.text}`);
    }
    expect(rejected).toEqual([]);
  });
});
