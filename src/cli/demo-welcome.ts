import type { DemoManifest } from '../demo/manifest.ts';
import type { AreaName } from '../config/config.ts';
import { table } from './print.ts';

export function accountLines(manifest: DemoManifest): string[] {
  const { admin, member, outsider, spare, staff } = manifest.users;
  const { admin: otherAdmin, member: otherMember } = manifest.other.users;
  const organizationUid = manifest.organization.uid;
  const otherUid = manifest.other.organization.uid;
  const accounts = [
    { label: `admin of ${organizationUid}`, ...admin },
    { label: `user of ${organizationUid}`, ...member },
    { label: `user of ${organizationUid}, no access`, ...outsider },
    { label: `user of ${organizationUid}, to ban`, ...spare },
    { label: 'platform staff', ...staff },
    { label: `admin of ${otherUid}`, ...otherAdmin },
    { label: `user of ${otherUid}`, ...otherMember },
  ];
  return table(
    accounts,
    {
      ACCOUNT: (row) => row.label,
      EMAIL: (row) => row.email,
      PASSWORD: (row) => row.password,
      TOKEN: (row) => row.token,
    },
    '',
  );
}

/** Returns the URLs of the console and of the API reference. */
export const addressLines = (origin: string): string[] => [
  `API reference: ${origin}/docs`,
  `Sign in:       ${origin}/`,
];

/** Returns the URLs, accounts and examples that `serve` prints for demo data. */
export function welcomeLines(manifest: DemoManifest, origin: string, areas: readonly AreaName[]): string[] {
  const commands = exampleCommands(manifest, origin).filter(({ area }) => areas.includes(area));
  return [
    '',
    ...addressLines(origin),
    '',
    ...accountLines(manifest),
    '',
    'Try:',
    ...commands.slice(0, 3).map(({ command }) => command),
    '',
  ];
}

/** Commands that users can paste repeatedly; the first three use different areas. */
function exampleCommands(manifest: DemoManifest, origin: string): { area: AreaName; command: string }[] {
  const { organization, group, vulnerability, assessment, assets, assetTag, users } = manifest;
  const get = (path: string) =>
    `curl -s -w '\\n' -H 'Authorization: Bearer ${users.admin.token}' '${origin}${path}'`;
  const send = (method: string, path: string, body: unknown) =>
    `curl -s -w '\\n' -X ${method} -H 'Authorization: Bearer ${users.admin.token}' -H 'Content-Type: application/json' ` +
    `-d '${JSON.stringify(body)}' '${origin}${path}'`;
  return [
    {
      area: 'streaming',
      command: get(`/api/streaming/v1/${organization.uid}/assets/${assets.host}/ports?per_page=5`),
    },
    {
      area: 'assessment',
      command: get(`/api/assessment/v1/assessment-groups/${group.id}/members?perPage=5`),
    },
    { area: 'v1', command: send('PATCH', `/v1/vulnerabilities/${vulnerability.id}`, { status_id: 5 }) },
    { area: 'v1', command: get(`/v1/assessments/${assessment.uid}/testing_hours`) },
    {
      area: 'asset',
      command: send('POST', '/api/asset/v2/bulk/assets/criticality:update', {
        organizationUid: organization.uid,
        criticality: 'high',
        assetUids: [assets.host],
      }),
    },
    {
      area: 'tagging',
      command: send('PATCH', `/api/tagging/v1.0/organizations/${organization.uid}/tags`, {
        uids: [assetTag.uid],
        addEntities: [{ uid: assets.host }],
      }),
    },
  ];
}
