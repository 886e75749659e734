/** Issuers that issue tokens to every tenant or account of a service. */
const SHARED_HOSTS = [
  'accounts.google.com',
  'api.login.yahoo.com',
  'appleid.apple.com',
  'discord.com',
  'gitlab.com',
  'id.twitch.tv',
  'login.live.com',
  'login.salesforce.com',
  'oauth.id.eu.jumpcloud.com',
  'oauth.id.in.jumpcloud.com',
  'oauth.id.jumpcloud.com',
  'slack.com',
  'test.salesforce.com',
  'www.facebook.com',
  'www.linkedin.com',
];

/** Microsoft Entra ID in all clouds, with the domains of its hosts. */
const ENTRA_HOSTS = [
  'login.chinacloudapi.cn',
  'login.microsoft.com',
  'login.windows.net',
  'microsoftonline.cn',
  'microsoftonline.com',
  'microsoftonline.de',
  'microsoftonline.us',
  'sts.chinacloudapi.cn',
  'sts.windows.net',
];

const TENANT_ID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;
/** The tenant of all personal Microsoft accounts, which is the issuer behind `consumers`. */
const PERSONAL_ACCOUNTS = '9188040d-6c67-4c5b-b112-36a304b66dad';

/**
 * Whether several tenants share an issuer, so that an address which it does not verify may be set by an administrator
 * of another tenant, or by anybody. At Entra ID only the id of a tenant names one: `common`, `organizations` and
 * `consumers` do not.
 * @param issuer a URL
 */
export function isSharedIssuer(issuer: string): boolean {
  const url = URL.parse(issuer);
  if (url === null) return false;
  const host = url.hostname.replace(/\.$/, '');
  if (SHARED_HOSTS.includes(host)) return true;
  if (!ENTRA_HOSTS.some((domain) => host === domain || host.endsWith(`.${domain}`))) return false;
  const tenant = url.pathname.split('/')[1]?.toLowerCase() ?? '';
  return !TENANT_ID.test(tenant) || tenant === PERSONAL_ACCOUNTS;
}
