/**
 * Comments that `npm run schema` writes above the tables and columns of `schema.ts`. A column needs one only for what
 * its name and type don't say.
 */
export const SCHEMA_COMMENTS: Readonly<Record<string, string>> = {
  'assessment_access.by_name': '1 if a person granted it.',
  'assessment_access.by_provider':
    '1 if a group of the identity provider grants it. Removing one grant leaves the other.',
  'assessment_groups.search_name': 'Normalized for search, like every `search_name`.',
  'assessment_group_members.user_uid': 'Copied from the user, so that a list can be sorted by it.',
  'assessments.starts_on': 'Date, as `2026-11-22`.',
  'attachments.by_staff': '1 if staff made it. The same in `comments`, `imports` and `testing_sessions`.',
  'vulnerabilities.reported_by_staff': '1 if staff made it; never changes.',
  'vulnerabilities.draft': '1 until staff publish it; only staff see it until then.',
  'vulnerabilities.published_by': 'The user who published the draft; `null` if it was none.',
  'vulnerabilities.published_import_id': 'The import of a client user that published the draft.',
  'assessments.drafts': 'Whether what staff report begins as a draft.',
  'imports.hides_findings': '1 if it found drafts, so that only staff see its counts of findings.',
  'audit_events.internal': '1 for a change of a draft, which only staff see. The same in `timeline_entries`.',
  'testing_sessions.entered_by': 'Who started or logged it; `null` if no account did, or it was deleted.',
  testing_session_edits: 'A correction of a testing session.',
  'testing_session_edits.before': 'JSON in the format of `SessionFields`.',
  'testing_sessions.ended_at': '`null` while it is running.',
  'testing_sessions.created_at': 'When the session was recorded, which may be later than `started_at`.',

  'assets.location': 'Identifies the asset within its organization and type; scans find it by this.',
  'assets.address_hex': 'IP address of a host in hexadecimal; `null` for other assets.',
  'assets.first_seen': 'Set by scans only.',
  'assets.open_vulnerabilities':
    'The number of vulnerabilities that are not closed, regardless of who may see them.',
  'assets.import_id': 'The import that created the asset.',
  'asset_taggings.organization_id': "The asset's organization.",
  'asset_taggings.owner_id': "The owner of the tag: the asset's organization, or `group_id`.",
  'asset_taggings.group_id':
    "A group that the asset's organization belongs to; `null` for the organization's own tag.",
  'listing_assets.scope_rules': 'JSON list of texts.',
  'listing_assets.import_id': 'The import that listed the asset; `null` if a person did.',
  host_detections: 'The observation of a host by a scan, in the format of `host-detections.ts`.',
  'host_detections.import_id': '0 for a scan without an import.',
  asset_detections: 'When an import saw an asset.',
  detected_assets: 'An asset that an import of an assessment saw, and that is not undone.',
  'port_events.changes': 'JSON in the format of `port-events.ts`.',

  audit_events:
    'A change or a denied attempt. Denied attempts that share a row have `null` in the columns where they differ.',
  'audit_events.user_id': 'The acting user; `null` if no account acted.',
  'audit_events.credential_id': 'The session, the token, or the application that acted for the user.',
  'audit_events.address': 'The network of a denied attempt.',
  'audit_events.before': 'JSON.',
  'audit_events.count': 'The number of denied attempts that the row stands for.',
  'audit_events.denied_key':
    'The minute, action and network shared by the denied attempts of the row; `null` for a change.',
  denied_attempt_minutes:
    'The number of rows for denied attempts in a minute. `minute` counts minutes since 1970.',

  bulk_changes: 'The values that a bulk change replaced, retained for an hour so that it can be undone.',
  'bulk_changes.user_id': '`null` for the command line.',
  'bulk_changes.replaced': 'JSON in the format of `src/domain/vulnerabilities/bulk/undo.ts`.',

  counters:
    'Counters that concurrent transactions change. The value of a counter is the sum of this table and `counter_deltas`, whose buckets of organizations and assessments each stand for several counters (ADR 105).',

  import_numbers: 'The last id of imports, and that of dry runs, whose ids begin above a billion.',

  'attachments.user_id':
    '`null` if no account created it, or the account was deleted. The same in `comments` and `retests`.',
  'attachments.file_size': 'In bytes.',
  'comments.internal': '1 if only staff may see it.',

  blobs:
    'Content in a store. The row is inserted before the content is stored, and deleted after the content is.',
  'blobs.state': '0: unreferenced; 1: a file refers to it; 2: being removed, must not be referred to.',

  idempotency_keys: 'The response to a request with an `Idempotency-Key` (ADR 36).',
  'idempotency_keys.id': 'SHA-256 of account, method, path and key, base64url. The key itself is not stored.',
  'idempotency_keys.request_hash': 'SHA-256 of the request, base64url.',
  'idempotency_keys.headers': 'JSON object of header names and values.',
  'idempotency_keys.version': 'The version of the returned object; `null` if several were returned.',
  'idempotency_keys.body':
    'JSON as sent, without the omitted properties; gzip in base64 if `body_is_gzip` is 1.',

  imports: 'An import, as the API represents it. Outlives its job and its file.',
  'imports.assessment_id': '`null` for a report of hosts.',
  'imports.cancel_requested': '1 if cancellation was requested; the running job polls it.',
  'imports.size': 'Size in bytes, as uploaded.',
  'imports.blob_key': 'Key of the uploaded file in the file store; `null` once it is deleted.',
  'imports.options': 'JSON, as in the API.',
  'imports.started_by_caller': 'JSON: the permissions on assets of the caller who started it.',
  'imports.report_at': 'The time of the report; `null` until it has been read.',
  'imports.fallback_report_at':
    'The given time, or that of the upload, for a report without a time of its own; else `null`.',
  scanner_findings:
    'A finding of an assessment by its identity. Changes only when a report changes what it says about the finding.',
  'scanner_findings.vulnerability_id': 'Reserved for its vulnerability, which exists once an import made it.',
  'scanner_findings.identity_hash':
    'Digest of 22 characters that identifies the finding; unique in an assessment.',
  'scanner_findings.cover_key':
    'The target that a report must cover to mark the finding gone: `site:https://a.example/`, `host:192.0.2.1`, `artifact:app`; `null` if none can.',
  'scanner_findings.cover_host': 'The host of `cover_key`: a scan of the host also covers its sites.',
  'scanner_findings.cover_ports':
    'The ports that such a scan must include: `tcp/443`, or a name of `port_sets`; empty for the host itself.',
  'scanner_findings.tags': 'Names of tags that the report gives it: JSON; `null` for none.',
  'scanner_findings.content_hash': 'Digest of all scanner fields, to skip findings that have not changed.',
  'scanner_findings.content': 'The number of the latest content, which the vulnerability shows.',
  'scanner_findings.gone_at':
    'The time and the import of the first report that covered the finding without containing it.',
  detections: 'A finding in the report of an import.',
  'detections.seen_at': 'The time of the last instance in the report; `first_seen_at` is that of the first.',
  'detections.content': 'The number of its content.',
  'detections.is_made': '1 if it creates the vulnerability; 0 below the minimum severity.',
  'detections.is_timed': '1 if `seen_at` is reliable.',
  'detections.carried_status_id': 'A decision that the import carries over from another assessment.',
  finding_contents:
    'The contents of a finding that its scanner reported. The row of the vulnerability itself holds the latest.',
  'finding_contents.asset_id':
    'The asset that it links; `null` for none, or if the importer could not link it.',
  'finding_contents.columns': "The scanner's columns: JSON.",
  scan_scopes: 'The scope of a complete report.',
  'scan_scopes.ports': 'The scanned ports, in the format of `cover_ports`; empty for all.',
  'scan_scopes.fixes': '1 if the import sets what it covers and no longer contains to Fixed.',
  untested_findings: 'Findings that a report with a scan scope names without having tested them.',
  port_sets: 'Long port lists by their digest, which other tables refer to.',
  last_import_starts: 'When an import or undo of an organization was last started.',
  search_index_queue:
    'Ranges of imported vulnerabilities that are not in the search index yet. Ids of others may lie between them.',

  jobs: 'Queued and recurring jobs. One instance runs each.',
  'jobs.key': 'At most one job has it; `null` for no such limit.',
  'jobs.quota_key': 'Jobs with the same key share a limit; `null` for no limit.',
  'jobs.attempts': 'How often the job was started.',
  'jobs.run_at': 'When the job is due; for a running one, when its lease expires.',
  'jobs.locked_by': 'The instance that runs the job; `null` while it is queued.',
  'jobs.mail_started_at':
    'When the job began to send its mail; `null` if it sends none, or the mail server did not accept it.',

  organizations:
    'An organization or an organization group: both own tags, and their uids have the same format.',
  'organizations.require_second_factor': 'Whether its users must have a second factor to sign in.',

  sessions: 'The session of a signed-in browser. Deleted when it ends.',
  'sessions.secret_hash': 'SHA-256 of the cookie, in hexadecimal.',
  'sessions.state': '`pending` after the first of two factors; allows nothing but the second.',
  'sessions.method': 'How the user authenticated: `password`, `password+totp`, `passkey`, `sso`, …',
  throttled_attempts: 'Recent attempts at an action that is rate-limited.',
  'throttled_attempts.subject': 'The action and its target; values that a person entered are hashed.',
  'throttled_attempts.address': "The client's address; empty if attempts from all addresses count together.",
  'throttled_attempts.times': 'JSON array of milliseconds since 1970, oldest first.',
  'throttled_attempts.locked_until': '0 if not locked.',
  'throttled_attempts.ends_at': 'When the row can be deleted.',
  'totp_secrets.sealed_secret': 'Base32, encrypted.',
  'totp_secrets.confirmed_at': 'When the first code was accepted. The row is inserted then.',
  'totp_secrets.last_step':
    'The time step of the last accepted code: each code can be used once (RFC 6238, section 5.2).',
  'passkeys.id': 'Credential ID, base64url.',
  'passkeys.public_key': 'COSE key, base64url.',
  'passkeys.transports': 'JSON array.',
  used_challenges: 'Challenges that were answered, until they expire: each can be answered once.',
  identity_providers: 'The OpenID Connect provider of an organization.',
  'identity_providers.sealed_secret': 'Encrypted; `null` for a public client.',
  'identity_providers.groups_claim': 'The claim in the ID token that lists the groups.',
  'identity_providers.admin_group':
    'Members of this group are admins of the organization; `null` if admins are managed in Assay.',
  'identity_providers.trust_email':
    '1 if addresses count as verified when the provider does not say whether they are.',
  identities: "Links an account to a subject of the organization's provider.",

  'tokens.id': 'The `jti` of a JWT access token.',
  'tokens.secret_hash':
    'SHA-256 of a personal access token, in hexadecimal; `null` for a JWT, which is verified by its signature.',
  'tokens.scopes': 'Space-separated.',
  'tokens.allowed_addresses': 'JSON array of CIDR blocks; `null` allows every address.',
  'tokens.client_id':
    'The application that the token was issued to; `null` if a person or the command line created it.',
  'tokens.grant_id':
    'Shared by the code, access tokens and refresh tokens of one approval; they are revoked together.',
  'tokens.name': 'The name of a personal access token.',
  'tokens.prefix': 'The first characters of a personal access token; `null` for a JWT.',
  'tokens.made_by':
    'The id of the token that it was created with and ends with; `null` for a page and the command line.',
  'tokens.made_by_client':
    'The application that this token was issued to, which is named after the token has been deleted.',
  credential_versions:
    'One row. `credentials` is incremented by every change of a user or token that may end a credential, `signing_keys` by every change of the signing keys.',
  deployment_keys:
    'At most one row, inserted at the first start: the secret shared by all instances, and the fingerprint of the master key.',
  signing_keys: 'The key with the highest number signs tokens.',
  'oauth_clients.secret_hash': 'SHA-256, in hexadecimal; `null` for a public client.',
  'oauth_clients.redirect_uris': 'JSON array. A URI that begins with a slash is relative to the public URL.',
  'oauth_clients.implicit': 'Whether the client may use the implicit flow.',
  'oauth_clients.scopes': 'JSON array of the scopes that it is limited to; `null` for those of its users.',
  'oauth_clients.user_id': 'The account for the client credentials grant; `null` forbids that grant.',
  'authorization_codes.code_hash': 'SHA-256, in hexadecimal.',
  'authorization_codes.redirect_uri': 'As in the request; `null` if the request had none.',
  'authorization_codes.code_challenge': 'S256 challenge (RFC 7636).',
  'refresh_tokens.secret_hash': 'SHA-256, in hexadecimal.',
  'refresh_tokens.expires_at': 'Extended by each rotation, at most to `grant_expires_at`.',
  'refresh_tokens.grant_expires_at': 'The same for all refresh tokens of a grant.',
  'refresh_tokens.used_at': 'When it was exchanged for the next one. Using it again indicates theft.',

  banned_addresses:
    'Addresses of invited users that a ban deleted, so that an identity provider does not recreate them.',
  'users.search_name': 'The name, normalized for search.',
  'users.organization_id': '`null` for platform staff.',
  'users.accepted_at':
    'When the invitation was accepted by the first sign-in; `null` until then. Using a token does not accept it.',
  'users.reactivated_at': 'When the last ban ended. Older credentials issued by others are not accepted.',
  'users.invited_at': 'When the open invitation was created; `null` means `created_at`.',
  'users.last_seen_at': 'When the user last used a browser session; tokens have times of their own.',

  'vulnerabilities.severity_rank': '4 for Critical to 0 for Informational.',
  'vulnerabilities.closed_at': 'When the status became closed; `null` while it is not.',
  'vulnerabilities.reported_at': '`created_at` in whole seconds since 1970.',
  'vulnerabilities.due_on': 'Date, as `2026-11-22`.',
  'vulnerabilities.source': '`manual`, or the name of the scanner.',
  'vulnerabilities.first_seen_at':
    'When it was first reported. Imports that see it again update `scanner_findings`.',
  'vulnerabilities.retest_status': 'The status of the last retest; `null` if there was none.',
  'vulnerabilities.status_before_retest': "The vulnerability's status when the last retest was requested.",
  'vulnerabilities.location_count': 'How many locations were reported, stored or not.',
  'vulnerabilities.cve_ids': 'JSON list, as in the API, like the other lists.',
  'vulnerabilities.search_title':
    'Title with CVE and CWE ids, and description, normalized for search; `searchColumns` returns both.',
  'timeline_entries.user_id': '`null` if no account acted, or the account was deleted.',
  'timeline_entries.before': 'JSON.',
  'timeline_entries.import_id': 'The import that made the change.',
  'timeline_entries.internal': '1 if only staff may see it.',
};
