import type { RegisterRoutes } from '../http/area-plugin.ts';
import { registerApplications } from './applications.tsx';
import { registerInvitation } from './invitation.tsx';
import { registerOrganizationSignIn } from './organization-sign-in.tsx';
import { registerOverview } from './overview.tsx';
import { registerPasskeySignIn } from './passkeys-sign-in.tsx';
import { registerPasskeyOptions } from './passkeys.ts';
import { registerPassword } from './password.tsx';
import { registerPeople } from './people.tsx';
import { registerReset } from './reset.tsx';
import { registerSecondFactorSetUp } from './second-factor-set-up.tsx';
import { registerSecondFactor } from './second-factor.tsx';
import { registerSecurityChanges } from './security-changes.tsx';
import { registerConfirmIdentity } from './security-confirm.tsx';
import { registerSecurity } from './security.tsx';
import { registerSessions } from './sessions.tsx';
import { registerSignIn } from './sign-in.tsx';
import { registerTokens } from './tokens.tsx';
import { registerUnknownPages } from './unknown-pages.ts';

/** The pages by which people sign in and look after their account. */
export const ACCOUNT_ROUTES: readonly RegisterRoutes[] = [
  registerSignIn,
  registerOrganizationSignIn,
  registerInvitation,
  registerReset,
  registerOverview,
  registerPassword,
  registerSessions,
  registerTokens,
  registerPeople,
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
