import { useQuery } from '@tanstack/react-query';
import { currentUser } from './current-user.ts';

const WRITE_SCOPE = /^asset_(gw|boss_ow|client_ow|boss_lw|client_lw)$/;

/** What whoever is signed in may do with assets, by the scopes that the console holds for them. */
export function useAssetPermissions() {
  const { data } = useQuery(currentUser);
  const scopes = data?.scopes ?? [];
  return {
    /** To create and change assets, their listings included. */
    write: scopes.some((scope) => WRITE_SCOPE.test(scope)),
    /** Of a whole organization, and not of listings alone: to delete assets, and to create them on no listing. */
    whole: scopes.some((scope) => WRITE_SCOPE.test(scope) && !scope.endsWith('_lw')),
    tag: scopes.some((scope) => /^tag_[gol]w$/.test(scope)),
  };
}
