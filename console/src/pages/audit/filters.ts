import { api } from '../../queries/client.ts';
import type { FilterDefinition, Option } from '../../components/filter-definition.ts';
import { AUDIT_ACTIONS } from '../../queries/enums.ts';
import { auditMessages } from './messages.ts';

const MAX_OPTIONS = 30;

const searchOptions = (all: readonly string[], search: string): Option[] =>
  all
    .filter((value) => value.includes(search.trim().toLowerCase()))
    .slice(0, MAX_OPTIONS)
    .map((value) => ({ value, label: value }));

/** Accepts any text as a value. */
const freeText = async (search: string): Promise<Option[]> =>
  search.trim() === '' ? [] : [{ value: search.trim(), label: search.trim() }];

const OBJECT_TYPES = [...new Set(AUDIT_ACTIONS.map((action) => action.slice(0, action.indexOf('.'))))];

export const AUDIT_FILTERS: readonly FilterDefinition[] = [
  {
    name: 'action',
    label: 'Action',
    options: async (search) => {
      const found = searchOptions(AUDIT_ACTIONS, search);
      return found.length === 0 && /^[a-z-]+\.[a-z-]+$/.test(search) ? freeText(search) : found;
    },
  },
  {
    name: 'object_type',
    label: auditMessages.objectType,
    options: async (search) => searchOptions(OBJECT_TYPES, search),
  },
  { name: 'object_id', label: 'Object', options: freeText },
  {
    name: 'user_id',
    label: 'Person',
    async options(search, signal) {
      const { data } = await api.GET('/v1/users', {
        params: { query: { 'filter[search]': search, 'page[size]': MAX_OPTIONS } },
        signal,
      });
      return data.map(({ id, name, email }) => ({ value: String(id), label: name ?? email }));
    },
    async loadLabel(value, signal) {
      const { data } = await api.GET('/v1/users/{id}', { params: { path: { id: Number(value) } }, signal });
      return data.name ?? data.email;
    },
  },
  { name: 'request_id', label: 'Request', options: freeText },
];
