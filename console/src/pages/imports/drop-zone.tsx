import { Button, Text } from '@mantine/core';
import { DimmedText } from '../../components/dimmed-text.tsx';
import { IconFileImport } from '@tabler/icons-react';
import { type DragEvent, useRef, useState } from 'react';
import classes from './imports.module.css';
import { importMessages } from './messages.ts';

interface DropZoneProps {
  onFiles: (files: readonly File[]) => void;
  /** Whether the page is otherwise empty. */
  isLarge: boolean;
}

/** Accepts dropped or selected scanner reports. */
export function DropZone({ onFiles, isLarge }: DropZoneProps) {
  const input = useRef<HTMLInputElement>(null);
  const [isDragOver, setDragOver] = useState(false);
  const handleDrag = (event: DragEvent) => {
    event.preventDefault();
    setDragOver(true);
  };
  return (
    // Keyboard users select files with the button.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <section
      className={classes.drop}
      aria-label={importMessages.newImport}
      data-over={isDragOver || undefined}
      data-large={isLarge || undefined}
      onDragOver={handleDrag}
      onDragEnter={handleDrag}
      onDragLeave={() => setDragOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setDragOver(false);
        onFiles([...event.dataTransfer.files]);
      }}
    >
      <IconFileImport size={26} aria-hidden />
      <div>
        <Text size="sm" fw={600}>
          {importMessages.dropReports}
        </Text>
        <DimmedText>{importMessages.dropHint}</DimmedText>
      </div>
      <Button variant="light" onClick={() => input.current?.click()}>
        {importMessages.chooseFiles}
      </Button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Reports"
        onChange={(event) => {
          onFiles([...(event.currentTarget.files ?? [])]);
          // Allows selecting the same file again.
          event.currentTarget.value = '';
        }}
      />
    </section>
  );
}
