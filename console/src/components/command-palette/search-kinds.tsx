import {
  type Icon,
  IconCloud,
  IconDeviceMobile,
  IconNetwork,
  IconServer,
  IconTarget,
  IconWorld,
} from '@tabler/icons-react';
import { api, type Assessment } from '../../queries/client.ts';
import type { AssetType } from '../../queries/enums.ts';
import { listAddress } from '../../queries/vulnerabilities.ts';
import { AssessmentName } from '../assessment-name.tsx';
import { PersonMark, TagDot } from '../identity-marks.tsx';
import { SeverityMark, StatusMark } from '../marks.tsx';
import type { Choice } from './choice.ts';
import { paletteMessages as messages } from './messages.ts';

export const SEARCH_KINDS = ['findings', 'assets', 'assessments', 'people', 'tags'] as const;
export type SearchKind = (typeof SEARCH_KINDS)[number];

/** Rows of the first page are read by cursor, because a numbered page is counted. */
const firstRows = (size: number) => ({ 'page[size]': size, 'page[after]': '' });
const searchFilter = (text: string) => (text === '' ? {} : { 'filter[search]': text });

async function readFindings(query: object, size: number, signal: AbortSignal): Promise<Choice[]> {
  const { data } = await api.GET('/v1/vulnerabilities', {
    params: {
      query: {
        ...query,
        ...firstRows(size),
        sort: '-resolved_at' as const,
        fields: 'id,title,severity,status_id,assessment_id',
      },
    },
    signal,
  });
  return data.map(({ id, title, severity, status_id, assessment_id }) => ({
    key: `finding-${id}`,
    mark: <SeverityMark severity={severity} />,
    name: title,
    detail: (
      <>
        #{id} · <AssessmentName uid={assessment_id} />
      </>
    ),
    end: <StatusMark id={status_id} />,
    link: { to: '/vulnerabilities/$id', params: { id: String(id) } },
  }));
}

/** Reads findings by id, in the order of the ids. */
export async function readFindingsById(ids: readonly number[], signal: AbortSignal): Promise<Choice[]> {
  const choices = await readFindings({ 'filter[id][]': [...ids] }, ids.length, signal);
  return ids.flatMap((id) => choices.find(({ key }) => key === `finding-${id}`) ?? []);
}

/** The finding of a number comes first: there may be many in which the number is a part of the text. */
async function findFindings(text: string, size: number, signal: AbortSignal): Promise<Choice[]> {
  const id = Number(/^#?(\d{1,9})$/.exec(text)?.[1] ?? 0);
  const [first, others] = await Promise.all([
    id === 0 ? [] : readFindingsById([id], signal),
    readFindings(searchFilter(text), size, signal),
  ]);
  return [...first, ...others.filter(({ key }) => key !== first[0]?.key)].slice(0, size);
}

const ASSET_ICONS: Readonly<Record<AssetType, Icon>> = {
  host: IconServer,
  webapp: IconWorld,
  network: IconNetwork,
  cloudaccount: IconCloud,
  mobileapp: IconDeviceMobile,
};

async function findAssets(text: string, perPage: number, signal: AbortSignal): Promise<Choice[]> {
  const query = {
    ...(text === '' ? {} : { search: text }),
    perPage,
    'page[after]': '',
    fields: 'uid,location,name,assetType,vulnerabilityCount',
  };
  const { data } = await api.GET('/api/asset/v2/assets', { params: { query }, signal });
  return data.map(({ uid, location, name, assetType, vulnerabilityCount }) => {
    const TypeIcon = ASSET_ICONS[assetType];
    const address = location ?? name ?? uid;
    return {
      key: `asset-${uid}`,
      mark: <TypeIcon size={16} stroke={1.75} aria-hidden />,
      name: address,
      detail: (
        <>
          {name != null && name !== address && <bdi>{name} · </bdi>}
          {messages.affected(vulnerabilityCount)}
        </>
      ),
      link: { to: '/assets/$uid', params: { uid } },
    };
  });
}

const toAssessmentChoice = ({ uid, name, open_vulnerability_count: open }: Assessment): Choice => ({
  key: `assessment-${uid}`,
  mark: <IconTarget size={16} stroke={1.75} aria-hidden />,
  name,
  detail: messages.open(open),
  link: { to: '/assessments/$uid', params: { uid } },
});

interface KindDefinition {
  find: (text: string, size: number, signal: AbortSignal) => Promise<Choice[]>;
  /** The list that shows all matches. */
  listOf: (filter: { search?: string }) => NonNullable<Choice['link']>;
}

/** The searches that the server runs. */
export const KINDS: Readonly<Record<SearchKind, KindDefinition>> = {
  findings: {
    find: findFindings,
    listOf: (filter) => ({ to: '/vulnerabilities', search: listAddress(filter) }),
  },
  assets: {
    find: findAssets,
    listOf: (search) => ({ to: '/assets', search }),
  },
  assessments: {
    async find(text, size, signal) {
      const query = { ...searchFilter(text), ...firstRows(size), sort: '-created_at' as const };
      return (await api.GET('/v1/assessments', { params: { query }, signal })).data.map(toAssessmentChoice);
    },
    listOf: (search) => ({ to: '/assessments', search }),
  },
  people: {
    async find(text, size, signal) {
      const query = { ...searchFilter(text), ...firstRows(size) };
      const { data } = await api.GET('/v1/users', { params: { query }, signal });
      return data.map((person) => ({
        key: `person-${person.id}`,
        mark: <PersonMark person={person} />,
        name: person.name ?? person.email,
        detail: person.name === null ? undefined : person.email,
        link: { to: '/people/$id', params: { id: String(person.id) } },
      }));
    },
    listOf: (search) => ({ to: '/people', search }),
  },
  tags: {
    async find(text, size, signal) {
      const query = { ...searchFilter(text), ...firstRows(size) };
      const { data } = await api.GET('/v1/vulnerability_tags', { params: { query }, signal });
      return data.map(({ id, name, count }) => ({
        key: `tag-${id}`,
        mark: <TagDot id={id} name="" />,
        name,
        detail: messages.affected(count),
        link: { to: '/vulnerabilities', search: listAddress({ tag_id: [id] }) },
      }));
    },
    listOf: (search) => ({ to: '/tags', search }),
  },
};
