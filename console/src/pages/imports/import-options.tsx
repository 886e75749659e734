import {
  Button,
  Checkbox,
  Collapse,
  Radio,
  Select,
  Stack,
  Switch,
  TagsInput,
  TextInput,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ImportSettings } from '../../queries/upload-import.ts';
import { organizationsQuery } from '../../queries/organizations.ts';
import { tagSuggestionsQuery } from '../../queries/tags.ts';
import { DraftCheckbox } from '../../components/draft-checkbox.tsx';
import { ListingPicker } from '../../components/listing-picker.tsx';
import { SEVERITIES, type Severity } from '../../queries/enums.ts';
import { currentUserQuery, useAssetPermissions, usePermissions } from '../../session/permissions.ts';
import classes from './imports.module.css';
import { importMessages } from './messages.ts';

const messages = importMessages.options;

export const DEFAULT_SETTINGS: ImportSettings = {
  assessmentUid: null,
  organizationUid: null,
  whenGone: 'keep',
  targets: [],
  scannedAt: '',
  dateOrder: null,
  minimumSeverity: null,
  tags: [],
  carry: false,
  listAssets: false,
  draft: undefined,
};

interface ImportOptionsProps {
  settings: ImportSettings;
  onChange: (settings: ImportSettings) => void;
  /** Set once an import was tried without an assessment. */
  assessmentError: string | undefined;
}

/** Options that apply to all dropped reports. */
export function ImportOptions({ settings, onChange, assessmentError }: ImportOptionsProps) {
  const [isOpen, { toggle }] = useDisclosure();
  const { data: user } = useQuery(currentUserQuery);
  const { list: canList } = useAssetPermissions();
  const { data: visibleOrganizations = [] } = useQuery(organizationsQuery);
  const set = (change: Partial<ImportSettings>) => onChange({ ...settings, ...change });
  const Chevron = isOpen ? IconChevronDown : IconChevronRight;
  return (
    <Stack gap="md" className={classes.settings}>
      <ListingPicker
        label={messages.assessment}
        description={user?.admin === true ? messages.assessmentForAdmins : messages.assessmentForMembers}
        value={settings.assessmentUid}
        error={assessmentError}
        onChange={(assessmentUid) => set({ assessmentUid, draft: undefined, listAssets: false })}
      />
      {user?.staff === true && settings.assessmentUid === null && (
        <Select
          label="Organization"
          description={messages.organization}
          data={visibleOrganizations.map(({ uid, name }) => ({ value: uid, label: name }))}
          value={settings.organizationUid}
          onChange={(organizationUid) => set({ organizationUid })}
          searchable
          clearable
        />
      )}
      <Radio.Group
        label={messages.whenGone}
        description={messages.whenGoneHint}
        value={settings.whenGone}
        onChange={(whenGone) => set({ whenGone: whenGone === 'fix' ? 'fix' : 'keep' })}
      >
        <Stack gap={6} mt={6}>
          <Radio value="keep" label={messages.markAsGone} description={messages.markAsGoneHint} />
          <Radio value="fix" label={messages.setToFixed} description={messages.setToFixedHint} />
        </Stack>
      </Radio.Group>
      {settings.assessmentUid !== null && canList(settings.assessmentUid) && (
        <Checkbox
          label={messages.listAssets}
          description={messages.listAssetsHint}
          checked={settings.listAssets}
          onChange={(event) => set({ listAssets: event.currentTarget.checked })}
        />
      )}
      <DraftCheckbox
        label={messages.asDrafts}
        assessmentUid={settings.assessmentUid ?? ''}
        value={settings.draft}
        onChange={(draft) => set({ draft })}
      />
      <div>
        <Button
          size="xs"
          variant="subtle"
          aria-expanded={isOpen}
          leftSection={<Chevron size={14} aria-hidden />}
          onClick={toggle}
        >
          {messages.more}
        </Button>
      </div>
      <Collapse expanded={isOpen} transitionDuration={0}>
        <MoreOptions settings={settings} set={set} isOpen={isOpen} />
      </Collapse>
    </Stack>
  );
}

interface MoreOptionsProps {
  settings: ImportSettings;
  set: (change: Partial<ImportSettings>) => void;
  isOpen: boolean;
}

/** Options that most imports leave as they are. */
function MoreOptions({ settings, set, isOpen }: MoreOptionsProps) {
  const [search, setSearch] = useState('');
  const permissions = usePermissions();
  const { data: suggestions = [] } = useQuery({ ...tagSuggestionsQuery(search), enabled: isOpen });
  return (
    <Stack gap="sm">
      <TagsInput
        label="Targets"
        description={messages.targets}
        value={[...settings.targets]}
        onChange={(targets) => set({ targets })}
        splitChars={[',', ' ']}
      />
      <TagsInput
        label="Tags"
        description={messages.tags}
        data={suggestions}
        value={[...settings.tags]}
        onChange={(tags) => set({ tags })}
        searchValue={search}
        onSearchChange={setSearch}
      />
      <Select
        label={messages.minimumSeverity}
        description={messages.minimumSeverityHint}
        placeholder="Any"
        data={[...SEVERITIES]}
        value={settings.minimumSeverity}
        onChange={(severity) => set({ minimumSeverity: severity as Severity | null })}
        clearable
      />
      <TextInput
        type="datetime-local"
        label={messages.scannedAt}
        description={messages.scannedAtHint}
        value={settings.scannedAt}
        onChange={(event) => set({ scannedAt: event.currentTarget.value })}
      />
      <Select
        label={messages.dateOrder}
        description={messages.dateOrderHint}
        placeholder={messages.dateOrderUnknown}
        data={[
          { value: 'dmy', label: messages.dayFirst },
          { value: 'mdy', label: messages.monthFirst },
        ]}
        value={settings.dateOrder}
        onChange={(order) => set({ dateOrder: order as ImportSettings['dateOrder'] })}
        clearable
      />
      {permissions.allows('dismiss', settings.assessmentUid ?? undefined) && (
        <Switch
          mt="sm"
          label={messages.carry}
          description={messages.carryHint}
          checked={settings.carry}
          onChange={(event) => set({ carry: event.currentTarget.checked })}
        />
      )}
    </Stack>
  );
}
