import { useQuery } from '@tanstack/react-query';
import { currentUser } from './current-user.ts';

const WRITE_SCOPE = /^asset_(gw|boss_ow|client_ow|boss_lw|client_lw)$/;

/** The asset permissions of the user, derived from their scopes. */
export function useAssetPermissions() {
  const { data } = useQuery(currentUser);
  const scopes = data?.scopes ?? [];
  return {
    /** May create and edit assets, including their listings. */
    write: scopes.some((scope) => WRITE_SCOPE.test(scope)),
    /** May delete assets, and create them without a listing; needs a scope for the organization. */
    whole: scopes.some((scope) => WRITE_SCOPE.test(scope) && !scope.endsWith('_lw')),
    tag: scopes.some((scope) => /^tag_[gol]w$/.test(scope)),
  };
}
