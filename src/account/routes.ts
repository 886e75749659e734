import type { RegisterRoutes } from '../http/area-plugin.ts';
import { registerOrganizationSignIn } from './organization-sign-in.tsx';
import { registerApplications } from './applications.tsx';
import { registerOverview } from './overview.tsx';
import { registerSignIn } from './sign-in.tsx';

/** The pages by which people sign in and look after their account. */
export const ACCOUNT_ROUTES: readonly RegisterRoutes[] = [
  registerSignIn,
  registerOrganizationSignIn,
  registerOverview,
  registerApplications,
];
