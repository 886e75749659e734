import type { Migration } from './migration.ts';

/**
 * The role and the source of access by name, who created an assessment, and who may dismiss vulnerabilities. Access
 * that was given before has the role that may do what it could do until now.
 */
export const roles: Migration = {
  name: '0010-roles',
  statements: ({ int, text }) => [
    `alter table assessment_access add column role ${text} not null default 'assessment_member'
      check (role in ('assessment_read_only', 'assessment_developer', 'assessment_member'))`,
    `alter table assessment_access add column by_name ${int} not null default 1 check (by_name in (0, 1))`,
    `alter table assessment_access add column by_provider ${int} not null default 0
      check (by_provider in (0, 1) and by_name + by_provider > 0)`,
    // Sign-ins have managed the access to these assessments alone, and go on to do so.
    `update assessment_access set by_name = 0, by_provider = 1
      where exists (select 1 from identity_provider_groups as mapping
          where mapping.assessment_id = assessment_access.assessment_id)
        and exists (select 1 from identities where identities.user_id = assessment_access.user_id)`,
    `alter table assessments add column created_by ${int} references users (id) on delete set null`,
    `create index assessments_by_creator on assessments (created_by) where created_by is not null`,
    `update assessments set created_by = (select users.id from audit_events as event join users on users.id = event.user_id
      where event.object_id = assessments.uid and event.organization_id = assessments.organization_id
        and event.action = 'assessment.create' limit 1)`,
    `alter table organizations add column dismissal_role ${text} not null default 'assessment_member'
      check (dismissal_role in ('assessment_member', 'assessment_operator', 'admin'))`,
  ],
};
