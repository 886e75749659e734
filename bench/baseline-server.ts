import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { generateKeyPair, SignJWT } from 'jose';
import { connectPostgres, connectSqlite } from './baseline-connection.ts';

/**
 * The bare handler that the product is compared with: `node:http`, the prepared statements of each operation, and
 * `JSON.stringify`. No authentication and no validation. Each write is one durable commit.
 */

const dataDirectory = process.argv[2] ?? 'data';
const databaseUrl = process.env['ASSAY_DATABASE_URL'];
const { privateKey: signingKey } = await generateKeyPair('ES256');
const connection = databaseUrl === undefined ? connectSqlite(dataDirectory) : connectPostgres(databaseUrl);

const { isOneOf, lockClause } = connection;

const GROUP = `select g.organization_id, m.role as caller_role, c.role, c.members from assessment_groups g
  left join assessment_group_members m on m.group_id = g.id and m.user_id = ?
  left join assessment_group_member_counts c on c.group_id = g.id where g.id = ?`;
const MEMBERS = `select m.id, m.user_uid as "userUid", m.role, m.created_at as "createdAt", u.email as "userEmail",
  u.name as "userName" from (select id from assessment_group_members where group_id = ? order by created_at, id limit ? offset ?) page
  join assessment_group_members m on m.id = page.id join users u on u.id = m.user_id order by m.created_at, m.id`;
const HOST = `select assets.id, coalesce(c.ports, 0) as ports from assets
  join organizations o on o.id = assets.organization_id
  left join port_counts c on c.asset_id = assets.id and c.observed_state = ? and assets.type = 'host'
  where assets.uid = ? and o.uid = ? and assets.organization_id = ?`;
const PORTS = `select number, protocol, observed_state, service_name, service_banner, product_name, product_version, cpe,
  first_seen, last_seen from ports where asset_id = ? and observed_state = ? order by number, protocol limit ? offset ?`;

const VULNERABILITY = `select id, organization_id, title, description, severity, status_id, cvss_score, created_at,
  updated_at from vulnerabilities where id = ? and exists (select 1 from assessments
  where assessments.id = vulnerabilities.assessment_id and assessments.organization_id = ?)${lockClause}`;
const CURRENT_TAGS = `select tag.id, tag.organization_id, tag.name, tag.normalized_name, tag.editable from vulnerability_taggings tagging
  join vulnerability_tags tag on tag.id = tagging.tag_id where tagging.vulnerability_id = ? order by tagging.tag_id`;
const TAGS = `select id, organization_id, name, normalized_name, editable from vulnerability_tags where ${isOneOf('id')}`;
const TAG = `insert into vulnerability_taggings (organization_id, vulnerability_id, tag_id)
  select vulnerabilities.organization_id, vulnerabilities.id, vulnerability_tags.id from vulnerabilities, vulnerability_tags
  where vulnerabilities.id = ? and ${isOneOf('vulnerability_tags.id')} returning tag_id`;
const UNTAG = `delete from vulnerability_taggings where vulnerability_id = ? and ${isOneOf('tag_id')}`;
const SET_STATUS = 'update vulnerabilities set status_id = ?, closed_at = ?, updated_at = ? where id = ?';
const ATTACHMENTS =
  'select id, filename, content_type, file_size, created_at from attachments where vulnerability_id = ? order by id';

const ASSESSMENT = 'select id, organization_id from assessments where uid = ? and organization_id = ?';
const CREATE = `insert into vulnerabilities (organization_id, assessment_id, severity, status_id, status_set_at, created_at,
  updated_at, created_by, first_seen_at, title, description, search_title, search_description)
  values (?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?) returning id`;

const OWNER = `select id, kind from organizations where uid = ? and (organizations.id = ? or exists (
  select 1 from organization_group_members m where m.group_id = organizations.id and m.organization_id = ?))`;
const ASSET_TAGS = `select id, uid from asset_tags where organization_id = ? and ${isOneOf('uid')}`;
const ASSETS = `select assets.id, assets.uid from assets where ${isOneOf('assets.uid')} and (+assets.organization_id = ?
  or exists (select 1 from organization_group_members m where m.organization_id = assets.organization_id and m.group_id = ?))
  and +assets.organization_id = ?`;
const ATTACH = `insert into asset_taggings (tag_id, asset_id, organization_id, owner_id, group_id)
  select asset_tags.id, assets.id, assets.organization_id, asset_tags.organization_id,
  nullif(asset_tags.organization_id, assets.organization_id) from asset_tags, assets
  where ${isOneOf('asset_tags.id')} and ${isOneOf('assets.id')} on conflict do nothing returning tag_id, asset_id`;
const DETACH = `delete from asset_taggings where ${isOneOf('tag_id')} and ${isOneOf('asset_id')} returning tag_id, asset_id`;

const GROUP_FOR_CALLER = `select g.organization_id, m.role as caller_role from assessment_groups g
  left join assessment_group_members m on m.group_id = g.id and m.user_id = ? where g.id = ?`;
const REMOVE_OTHERS = `delete from assessment_group_members where id in (select member.id from users
  left join assessment_group_members member on member.user_id = users.id and member.group_id = ? and member.role <> 'rbac_group_admin'
  where ${isOneOf('users.uid')}) returning user_uid, role`;
const TARGETS = `select users.uid, users.organization_id, m.role from users
  left join assessment_group_members m on m.user_id = users.id and m.group_id = ? where ${isOneOf('users.uid')}`;
const LOCK_ADMINS = `select members from assessment_group_member_counts
  where group_id = ? and role = 'rbac_group_admin'${lockClause}`;
const REMOVE_ADMINS = REMOVE_OTHERS.replace('<>', '=');
const COUNT =
  'update assessment_group_member_counts set members = members - ? where group_id = ? and role = ?';

const CRITICALITY_OF = `select id, uid, criticality from assets where ${isOneOf('uid')} and +organization_id = ?
  and criticality <> ? and writable_by in ('client', 'any')`;
const SET_CRITICALITY = `update assets set criticality = ?, updated_at = ? where ${isOneOf('id')} and criticality = ?`;

const organizationId = Number(
  (await connection.all('select id from organizations where uid = ?', ['bench']))[0]?.['id'],
);

const adminId = Number(
  (await connection.all('select id from users where normalized_email = ?', ['admin@bench.example']))[0]?.[
    'id'
  ],
);

interface Call {
  path: string[];
  query: URLSearchParams;
  body: any;
}

/** The operations by method and end of the path. */
const OPERATIONS: [method: string, path: RegExp, run: (call: Call) => Promise<unknown>][] = [
  ['GET', /\/members$/, listMembers],
  ['GET', /\/ports$/, listPorts],
  ['PATCH', /\/vulnerabilities\/\d+$/, updateVulnerability],
  ['POST', /\/vulnerabilities$/, createVulnerability],
  ['PATCH', /\/tags$/, changeTaggings],
  ['POST', /\/batchRemove$/, removeMember],
  ['POST', /:update$/, setCriticality],
  ['POST', /\/oauth\/token$/, signToken],
];

async function listMembers({ path, query }: Call): Promise<unknown> {
  const group = Number(path[5]);
  const perPage = Number(query.get('perPage'));
  const counts = await connection.all(GROUP, [adminId, group]);
  const offset = (Number(query.get('page') ?? 1) - 1) * perPage;
  return { members: await connection.all(MEMBERS, [group, perPage, offset]), metadata: { counts } };
}

async function listPorts({ path, query }: Call): Promise<unknown> {
  const perPage = Number(query.get('per_page'));
  const [host] = await connection.all(HOST, ['open', path[6], path[4], organizationId]);
  const offset = (Number(query.get('page') ?? 1) - 1) * perPage;
  return {
    data: await connection.all(PORTS, [host?.['id'], 'open', perPage, offset]),
    total: host?.['ports'],
  };
}

async function updateVulnerability({ path, body }: Call): Promise<unknown> {
  const id = Number(path[3]);
  return connection.write(async (tx) => {
    const [vulnerability] = await tx.all(VULNERABILITY, [id, organizationId]);
    const before = (await tx.all(CURRENT_TAGS, [id])).map((tag) => Number(tag['id']));
    const tags = await tx.all(TAGS, [body.tags]);
    const after = tags.map((tag) => Number(tag['id']));
    const removed = before.filter((tag) => !after.includes(tag));
    const added = after.filter((tag) => !before.includes(tag));
    if (removed.length > 0) await tx.all(UNTAG, [id, removed]);
    if (added.length > 0) await tx.all(TAG, [id, added]);
    const now = Date.now();
    await tx.all(SET_STATUS, [body.status_id, body.status_id >= 5 ? now : null, now, id]);
    return {
      ...vulnerability,
      status_id: body.status_id,
      tags,
      attachments: await tx.all(ATTACHMENTS, [id]),
    };
  });
}

async function createVulnerability({ body }: Call): Promise<unknown> {
  const { assessment_id: uid, title, severity, description } = body;
  return connection.write(async (tx) => {
    const [assessment] = await tx.all(ASSESSMENT, [uid, organizationId]);
    const now = Date.now();
    const keys = [title.toLowerCase(), description.toLowerCase()];
    const row = [assessment?.['organization_id'], assessment?.['id'], severity, now, now, now, adminId, now];
    const [created] = await tx.all(CREATE, [...row, title, description, ...keys]);
    return { ...created, title, severity, description };
  });
}

async function changeTaggings({ path, body }: Call): Promise<unknown> {
  return connection.write(async (tx) => {
    const [owner] = await tx.all(OWNER, [path[5], organizationId, organizationId]);
    const tags = (await tx.all(ASSET_TAGS, [owner?.['id'], body.uids])).map((tag) => tag['id']);
    const added = body.addEntities.map(({ uid }: { uid: string }) => uid);
    const assets = await tx.all(ASSETS, [
      [...added, ...body.delEntityUids],
      owner?.['id'],
      owner?.['id'],
      organizationId,
    ]);
    const ids = new Map(assets.map((asset) => [asset['uid'], asset['id']]));
    await tx.all(ATTACH, [tags, added.map((uid: string) => ids.get(uid))]);
    await tx.all(DETACH, [tags, body.delEntityUids.map((uid: string) => ids.get(uid))]);
    return undefined;
  });
}

async function removeMember({ path, body }: Call): Promise<unknown> {
  const group = Number(path[5]);
  return connection.write(async (tx) => {
    await tx.all(GROUP_FOR_CALLER, [adminId, group]);
    let removed = await tx.all(REMOVE_OTHERS, [group, body.userUids]);
    if (removed.length < body.userUids.length) {
      await tx.all(TARGETS, [group, body.userUids]);
      await tx.all(LOCK_ADMINS, [group]);
      removed = await tx.all(REMOVE_ADMINS, [group, body.userUids]);
    }
    for (const { role } of removed) await tx.all(COUNT, [1, group, role]);
    return { results: removed.map((row) => ({ userUid: row['user_uid'], status: 'removed' })) };
  });
}

async function setCriticality({ body }: Call): Promise<unknown> {
  return connection.write(async (tx) => {
    await tx.all(OWNER, [body.organizationUid, organizationId, organizationId]);
    const assets = await tx.all(CRITICALITY_OF, [body.assetUids, organizationId, body.criticality]);
    const previous = new Map<string, number[]>();
    for (const { id, criticality } of assets) {
      const ids = previous.get(criticality);
      if (ids === undefined) previous.set(criticality, [id]);
      else ids.push(id);
    }
    for (const [from, ids] of previous)
      await tx.all(SET_CRITICALITY, [body.criticality, Date.now(), ids, from]);
    return { updatedCount: assets.length };
  });
}

/** Only signs an access token. */
async function signToken(): Promise<unknown> {
  const now = Math.floor(Date.now() / 1000);
  const access_token = await new SignJWT({ client_id: 'bench', scope: 'api', org: 'bench', admin: true })
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'bench' })
    .setIssuer('http://127.0.0.1:8080')
    .setAudience('http://127.0.0.1:8080')
    .setSubject('bench')
    .setJti(randomUUID())
    .setIssuedAt(now)
    .setExpirationTime(now + 3_600)
    .sign(signingKey);
  return { access_token, token_type: 'Bearer', expires_in: 3_600, scope: 'api' };
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://127.0.0.1');
    const operation = OPERATIONS.find(([method, path]) => method === request.method && path.test(pathname));
    if (operation === undefined) return void response.writeHead(404).end();
    const isJson = request.headers['content-type'] === 'application/json';
    const body: unknown = isJson ? JSON.parse(Buffer.concat(chunks).toString()) : undefined;
    operation[2]({ path: pathname.split('/'), query: searchParams, body }).then(
      (result) => {
        if (result === undefined) return void response.writeHead(204).end();
        const text = JSON.stringify(result);
        response.writeHead(200, {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(text),
        });
        response.end(text);
      },
      (error: unknown) => {
        console.error(error);
        response.writeHead(500).end();
      },
    );
  });
});
server.listen(0, '127.0.0.1', 2_048, () => {
  const address = server.address();
  console.log(`bare listening on http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`);
});
process.on('SIGTERM', () => process.exit(0));
