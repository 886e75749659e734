import type { RegisterRoutes } from '../http/area-plugin.ts';
import { registerApplications } from './applications-page.tsx';
import { registerConsole } from './console-page.ts';
import { registerInvitation } from './invitation-page.tsx';
import { registerInvitePerson } from './invite-person-page.tsx';
import { registerOrganizationSignIn } from './organization-sign-in-page.tsx';
import { registerOverview } from './overview-page.tsx';
import { registerPasskeySignIn } from './passkeys-sign-in.tsx';
import { registerPasskeyOptions } from './passkeys.ts';
import { registerPassword } from './password-page.tsx';
import { registerPeople } from './people-page.tsx';
import { registerPerson } from './person-page.tsx';
import { registerReset } from './reset-page.tsx';
import { registerSecondFactorSetUp } from './second-factor-set-up-page.tsx';
import { registerSecondFactor } from './second-factor-page.tsx';
import { registerSecurityChanges } from './security-changes.tsx';
import { registerConfirmIdentity } from './security-confirm-page.tsx';
import { registerSecurity } from './security-page.tsx';
import { registerSessions } from './sessions-page.tsx';
import { registerSignIn } from './sign-in-page.tsx';
import { registerTokens } from './tokens-page.tsx';
import { registerUnknownPages } from './unknown-pages.ts';

/** The pages by which people sign in and look after their account. */
export const ACCOUNT_ROUTES: readonly RegisterRoutes[] = [
  registerConsole,
  registerSignIn,
  registerOrganizationSignIn,
  registerInvitation,
  registerReset,
  registerOverview,
  registerPassword,
  registerSessions,
  registerTokens,
  registerPeople,
  registerInvitePerson,
  registerPerson,
  registerApplications,
  registerPasskeyOptions,
  registerPasskeySignIn,
  registerSecondFactor,
  registerSecondFactorSetUp,
  registerSecurity,
  registerConfirmIdentity,
  registerSecurityChanges,
  registerUnknownPages,
];
