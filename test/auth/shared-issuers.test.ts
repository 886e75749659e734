import { describe, expect, it } from 'vitest';
import { isSharedIssuer } from '../../src/auth/shared-issuers.ts';

const TENANT = '72f988bf-86f1-41af-91ab-2d7cd011db47';
const PERSONAL_ACCOUNTS = '9188040d-6c67-4c5b-b112-36a304b66dad';

describe('An issuer is shared', () => {
  it.each([
    ...['common', 'organizations', 'consumers', PERSONAL_ACCOUNTS, '{tenantid}', 'acme.example', ''].map(
      (tenant) => `https://login.microsoftonline.com/${tenant}/v2.0`,
    ),
    `https://login.microsoftonline.com/${PERSONAL_ACCOUNTS.toUpperCase()}/v2.0`,
    `https://login.microsoftonline.com//${TENANT}/v2.0`,
    `https://login.microsoftonline.com/common/${TENANT}/v2.0`,
    `https://login.microsoftonline.com/${TENANT}/../common/v2.0`,
    `https://login.microsoftonline.com/${TENANT}/%2e%2e/common/v2.0`,
    'https://LOGIN.MicrosoftOnline.com./common/v2.0',
    'https://login.microsoftonline.com:443/common/v2.0',
    'https://user@login.microsoftonline.com/common/v2.0',
    'https://login.microsoftonline.us/common/v2.0',
    'https://login.partner.microsoftonline.cn/common/v2.0',
    'https://login.chinacloudapi.cn/common/',
    'https://login.microsoftonline.de/common/v2.0',
    'https://login.windows.net/common',
    'https://sts.windows.net/common/',
    'https://accounts.google.com',
    'https://accounts.google.com/',
    'https://Accounts.Google.com./',
    'https://appleid.apple.com',
    'https://login.salesforce.com',
    'https://slack.com',
    'https://oauth.id.jumpcloud.com/',
    'https://oauth.id.eu.jumpcloud.com/',
  ])('if it is %s', (issuer) => expect(isSharedIssuer(issuer)).toBe(true));

  it.each([
    `https://login.microsoftonline.com/${TENANT}/v2.0`,
    `https://login.microsoftonline.com/${TENANT.toUpperCase()}/v2.0`,
    `https://login.microsoftonline.us/${TENANT}/v2.0`,
    `https://login.partner.microsoftonline.cn/${TENANT}/v2.0`,
    `https://sts.windows.net/${TENANT}/`,
    'https://acme.okta.com',
    'https://acme.okta.com/oauth2/default',
    'https://login.acme.example/realms/acme',
    'https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_AbCdEfGhI',
    'https://acme.my.salesforce.com',
    'https://login.microsoftonline.com.acme.example/common',
  ])('unless it is one of a tenant, as %s', (issuer) => expect(isSharedIssuer(issuer)).toBe(false));
});
