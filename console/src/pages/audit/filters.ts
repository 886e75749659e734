import { api } from '../../queries/client.ts';
import type { FilterKind, Option } from '../../components/filter-definition.ts';
import { ACTIONS } from './actions.ts';

const SHOWN = 30;

const matching = (all: readonly string[], search: string): Option[] =>
  all
    .filter((value) => value.includes(search.trim().toLowerCase()))
    .slice(0, SHOWN)
    .map((value) => ({ value, label: value }));

/** What is pasted is what is looked for. */
const pasted = async (search: string): Promise<Option[]> =>
  search.trim() === '' ? [] : [{ value: search.trim(), label: search.trim() }];

const TYPES = [...new Set(ACTIONS.map((action) => action.slice(0, action.indexOf('.'))))];

/** The filters of the audit log. */
export const FILTER_KINDS: readonly FilterKind[] = [
  {
    name: 'action',
    label: 'Action',
    options: async (search) => {
      const found = matching(ACTIONS, search);
      return found.length === 0 && /^[a-z-]+\.[a-z-]+$/.test(search) ? pasted(search) : found;
    },
  },
  { name: 'object_type', label: 'Kind of object', options: async (search) => matching(TYPES, search) },
  { name: 'object_id', label: 'Object', options: pasted },
  {
    name: 'user_id',
    label: 'Person',
    async options(search, signal) {
      const { data } = await api.GET('/v1/users', {
        params: { query: { 'filter[search]': search, 'page[size]': SHOWN } },
        signal,
      });
      return data.map(({ id, name, email }) => ({ value: String(id), label: name ?? email }));
    },
    async nameOf(value, signal) {
      const { data } = await api.GET('/v1/users/{id}', { params: { path: { id: Number(value) } }, signal });
      return data.name ?? data.email;
    },
  },
  { name: 'request_id', label: 'Request', options: pasted },
];
