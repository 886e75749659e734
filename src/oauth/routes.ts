import type { RouteRegistrar } from '../http/register-area.ts';
import { registerAuthorize } from './authorize.tsx';

/** The pages of the authorization server. */
export const OAUTH_PAGES: readonly RouteRegistrar[] = [registerAuthorize];
