import { queryOptions, useMutation } from '@tanstack/react-query';
import { notify } from '../components/notifications.ts';
import { api, type Retest } from './client.ts';
import { useRefreshVulnerability } from './edit-vulnerability.ts';
import { queryMessages } from './messages.ts';

/** Reads all retests, oldest first (operation 27). */
export const retestsQuery = (id: number) =>
  queryOptions({
    queryKey: ['vulnerability', id, 'retests'],
    async queryFn({ signal }) {
      const retests: Retest[] = [];
      const params = { path: { vulnerability_id: id }, query: { 'page[size]': 200 } };
      for await (const retest of api.rows('/v1/vulnerabilities/{vulnerability_id}/patch_verifications', {
        params,
        signal,
      }))
        retests.push(retest);
      return retests;
    },
  });

/** Requests a retest (operation 28). */
export function useRequestRetest(id: number) {
  const refresh = useRefreshVulnerability(id);
  return useMutation({
    mutationFn: (message: string) =>
      api.POST('/v1/vulnerabilities/{vulnerability_id}/patch_verifications', {
        params: { path: { vulnerability_id: id } },
        body: { message },
      }),
    onSuccess() {
      notify(queryMessages.retest.requested);
      refresh();
    },
  });
}

export type DecidedStatus = Exclude<Retest['status'], 'requested'>;
export type DecidedRetest = Retest & { status: DecidedStatus };

export const isDecided = (retest: Retest): retest is DecidedRetest => retest.status !== 'requested';

/** Decides a retest (operation 29). */
export function useDecideRetest(id: number) {
  const refresh = useRefreshVulnerability(id);
  return useMutation({
    mutationFn: ({
      retestId,
      status,
      message,
    }: {
      retestId: number;
      status: DecidedStatus;
      message: string;
    }) =>
      api.PATCH('/v1/vulnerabilities/{vulnerability_id}/patch_verifications/{verification_id}', {
        params: { path: { vulnerability_id: id, verification_id: retestId } },
        body: { status, ...(message.trim() === '' ? {} : { message }) },
      }),
    onSuccess(_result, { status }) {
      notify(queryMessages.retest.decided(status));
      refresh();
    },
  });
}

/** Reads the latest retest; `null` if there is none (operation 27). */
export const latestRetestQuery = (id: number) =>
  queryOptions({
    queryKey: ['vulnerability', id, 'last-retest'],
    queryFn: async ({ signal }) => {
      const { data } = await api.GET('/v1/vulnerabilities/{vulnerability_id}/patch_verifications', {
        params: { path: { vulnerability_id: id }, query: { 'page[size]': 200 } },
        signal,
      });
      return data.at(-1) ?? null;
    },
  });
