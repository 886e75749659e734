import type { RouteRegistrar } from '../http/register-area.ts';
import { unknownPath } from '../http/unknown-paths.ts';
import { sendNotFoundPage } from '../page-kit/not-found-page.tsx';
import { registerApplications } from './applications-page.tsx';
import { registerConsole } from './console-page.ts';
import { registerInvitation } from './invitation-page.tsx';
import { registerOrganizationSignIn } from './organization-sign-in-page.tsx';
import { registerOverview } from './overview-page.tsx';
import { registerPasskeySignIn } from './passkey-sign-in.tsx';
import { registerPasskeyOptions } from './passkey-endpoints.ts';
import { registerPasswordLink } from './people-password-link-page.tsx';
import { registerPassword } from './change-password-page.tsx';
import { registerReset } from './reset-password-page.tsx';
import { registerSecondFactorSetup } from './second-factor-setup-page.tsx';
import { registerSecondFactor } from './second-factor-page.tsx';
import { registerSecurityActions } from './security-actions.tsx';
import { registerConfirmIdentity } from './security-confirm-page.tsx';
import { registerSecurity } from './security-page.tsx';
import { registerSessions } from './sessions-page.tsx';
import { registerSignIn } from './sign-in-page.tsx';
import { registerTokens } from './tokens-page.tsx';

/** Responds to unknown paths with an HTML page instead of the API's error body. */
const registerNotFound: RouteRegistrar = (app) => {
  for (const url of ['/account/*', '/sign-in/*']) {
    app.get(
      url,
      { config: { operation: 'unknown-page', access: 'open' }, schema: { hide: true } },
      async (request, reply) => sendNotFoundPage(request, reply, unknownPath(request)),
    );
  }
};

export const ACCOUNT_ROUTES: readonly RouteRegistrar[] = [
  registerConsole,
  registerSignIn,
  registerOrganizationSignIn,
  registerInvitation,
  registerReset,
  registerOverview,
  registerPassword,
  registerSessions,
  registerTokens,
  registerPasswordLink,
  registerApplications,
  registerPasskeyOptions,
  registerPasskeySignIn,
  registerSecondFactor,
  registerSecondFactorSetup,
  registerSecurity,
  registerConfirmIdentity,
  registerSecurityActions,
  registerNotFound,
];
