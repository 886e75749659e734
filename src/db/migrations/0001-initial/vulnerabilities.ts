import type { Dialect } from '../migration.ts';

/** Vulnerabilities, their tags and attachments. */
export const vulnerabilitiesTables = ({ id, int, real, text, table, clustered }: Dialect): string[] => [
  `create table vulnerabilities (
    id ${id},
    organization_id ${int} not null,
    assessment_id ${int} not null,
    title ${text} not null,
    description ${text} not null,
    severity ${text} not null check (severity in ('Critical', 'High', 'Medium', 'Low', 'Informational')),
    status_id ${int} not null check (status_id between 1 and 9),
    cvss_score ${real} check (cvss_score between 0 and 10),
    created_at ${int} not null,
    updated_at ${int} not null,
    version ${int} not null default 1,
    unique (organization_id, id),
    foreign key (organization_id, assessment_id) references assessments (organization_id, id)
  ) ${table}`,
  `create index vulnerabilities_by_assessment on vulnerabilities (assessment_id, id)`,

  `create table vulnerability_tags (
    id ${id},
    organization_id ${int} not null references organizations (id),
    name ${text} not null,
    name_key ${text} not null,
    editable ${int} not null default 1 check (editable in (0, 1)),
    version ${int} not null default 1,
    unique (organization_id, name_key),
    unique (organization_id, id)
  ) ${table}`,

  `create table vulnerability_taggings (
    organization_id ${int} not null,
    vulnerability_id ${int} not null,
    tag_id ${int} not null,
    primary key (vulnerability_id, tag_id),
    foreign key (organization_id, vulnerability_id) references vulnerabilities (organization_id, id) on delete cascade,
    foreign key (organization_id, tag_id) references vulnerability_tags (organization_id, id) on delete cascade
  ) ${clustered}`,
  `create index vulnerability_taggings_by_tag on vulnerability_taggings (tag_id, vulnerability_id)`,

  `create table attachments (
    id ${id},
    vulnerability_id ${int} not null references vulnerabilities (id) on delete cascade,
    filename ${text} not null,
    content_type ${text} not null,
    file_size ${int} not null,
    created_at ${int} not null
  ) ${table}`,
  `create index attachments_by_vulnerability on attachments (vulnerability_id, id)`,
];
