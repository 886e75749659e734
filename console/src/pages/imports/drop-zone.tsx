import { Text } from '@mantine/core';
import { IconFileImport } from '@tabler/icons-react';
import { DimmedText } from '../../components/dimmed-text.tsx';
import { ChooseFiles } from './choose-files.tsx';
import classes from './imports.module.css';
import { importMessages } from './messages.ts';

interface DropZoneProps {
  onFiles: (files: readonly File[]) => void;
  /** Whether the page is otherwise empty. */
  isLarge: boolean;
}

/** Says that reports can be dropped on the page, or selected. */
export const DropZone = ({ onFiles, isLarge }: DropZoneProps) => (
  <section className={classes.drop} aria-label={importMessages.newImport} data-large={isLarge || undefined}>
    <IconFileImport size={26} aria-hidden />
    <div>
      <Text size="sm" fw={600}>
        {importMessages.dropReports}
      </Text>
      <DimmedText>{importMessages.dropHint}</DimmedText>
    </div>
    <ChooseFiles label={importMessages.chooseFiles} onFiles={onFiles} />
  </section>
);
