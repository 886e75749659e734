import { Button, Collapse, Select, Stack, Switch, TagsInput, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ImportSettings } from '../../queries/upload-import.ts';
import { organizations } from '../../queries/organizations.ts';
import { tagSuggestions } from '../../queries/tag-suggestions.ts';
import { ListingPicker } from '../../components/listing-picker.tsx';
import { SEVERITIES, type Severity } from '../../components/severity-badge.tsx';
import { currentUser } from '../../session/current-user.ts';
import classes from './imports.module.css';

export const DEFAULT_SETTINGS: ImportSettings = {
  assessmentUid: null,
  organizationUid: null,
  whenGone: 'keep',
  targets: [],
  scannedAt: '',
  minimumSeverity: null,
  tags: [],
  carry: false,
};

interface ImportOptionsProps {
  settings: ImportSettings;
  onChange: (wishes: ImportSettings) => void;
  /** What the server says of the assessment. */
  assessmentError: string | undefined;
}

/** What holds for all the reports that are imported together. */
export function ImportOptions({ settings, onChange, assessmentError }: ImportOptionsProps) {
  const [isOpen, { toggle }] = useDisclosure();
  const { data: who } = useQuery(currentUser);
  const { data: reached = [] } = useQuery(organizations);
  const [search, setSearch] = useState('');
  const { data: found = [] } = useQuery({ ...tagSuggestions(search), enabled: isOpen });
  const set = (change: Partial<ImportSettings>) => onChange({ ...settings, ...change });
  const Chevron = isOpen ? IconChevronDown : IconChevronRight;
  return (
    <section className={classes.sheet} aria-label="Options">
      <Stack gap="sm">
        <div className={classes.options}>
          <ListingPicker
            label="Assessment"
            description={
              who?.admin === true
                ? 'Findings belong to one; hosts and ports alone need none.'
                : 'What is found belongs to one.'
            }
            error={assessmentError}
            value={settings.assessmentUid}
            onChange={(assessmentUid) => set({ assessmentUid })}
          />
          {who?.staff === true && settings.assessmentUid === null && (
            <Select
              label="Organization"
              description="Of hosts, where no assessment is chosen."
              data={reached.map(({ uid, name }) => ({ value: uid, label: name }))}
              value={settings.organizationUid}
              onChange={(organizationUid) => set({ organizationUid })}
              searchable
              clearable
            />
          )}
          <Select
            label="What a report no longer has"
            description="Of what it covered, in the same assessment."
            data={[
              { value: 'keep', label: 'Keep it, and mark it as gone' },
              { value: 'fix', label: 'Set it to Fixed' },
            ]}
            allowDeselect={false}
            value={settings.whenGone}
            onChange={(whenGone) => set({ whenGone: whenGone === 'fix' ? 'fix' : 'keep' })}
          />
        </div>
        <div>
          <Button
            size="compact-sm"
            variant="subtle"
            aria-expanded={isOpen}
            leftSection={<Chevron size={14} aria-hidden />}
            onClick={toggle}
          >
            More options
          </Button>
        </div>
        <Collapse expanded={isOpen} transitionDuration={0}>
          <div className={classes.options}>
            <TagsInput
              label="Targets"
              description="What was scanned, where the report does not say: addresses, host names, URLs."
              value={[...settings.targets]}
              onChange={(targets) => set({ targets })}
              splitChars={[',', ' ']}
            />
            <TagsInput
              label="Tags"
              description="Put on what is new."
              data={found}
              value={[...settings.tags]}
              onChange={(tags) => set({ tags })}
              searchValue={search}
              onSearchChange={setSearch}
            />
            <Select
              label="Least severity"
              description="What is below is not made."
              placeholder="All"
              data={[...SEVERITIES]}
              value={settings.minimumSeverity}
              onChange={(severity) => set({ minimumSeverity: severity as Severity | null })}
              clearable
            />
            <TextInput
              type="datetime-local"
              label="Scanned at"
              description="Where the report does not say."
              value={settings.scannedAt}
              onChange={(event) => set({ scannedAt: event.currentTarget.value })}
            />
            <Switch
              mt="sm"
              label="Take over decisions"
              description="What people decided of the same findings in other assessments."
              checked={settings.carry}
              onChange={(event) => set({ carry: event.currentTarget.checked })}
            />
          </div>
        </Collapse>
      </Stack>
    </section>
  );
}
