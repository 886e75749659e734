import { Button, Text } from '@mantine/core';
import { IconFileImport } from '@tabler/icons-react';
import { type DragEvent, useRef, useState } from 'react';
import classes from './imports.module.css';

interface DropZoneProps {
  onFiles: (files: readonly File[]) => void;
  /** Whether nothing else is on the page yet, so that it may be large. */
  large: boolean;
}

/** Takes the reports of scanners: dropped onto it, or chosen. */
export function DropZone({ onFiles, large }: DropZoneProps) {
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  const hold = (event: DragEvent) => {
    event.preventDefault();
    setOver(true);
  };
  return (
    // Who has no pointer chooses by the button in it.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <section
      className={classes.drop}
      aria-label="New import"
      data-over={isOver || undefined}
      data-large={large || undefined}
      onDragOver={hold}
      onDragEnter={hold}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        onFiles([...event.dataTransfer.files]);
      }}
    >
      <IconFileImport size={26} aria-hidden />
      <div>
        <Text size="sm" fw={600}>
          Drop reports of scanners here
        </Text>
        <Text size="sm" c="dimmed">
          Nmap, ZAP, Burp Suite, Nessus, OpenVAS, Nuclei, SARIF, Trivy and ten more, also gzip or zip. Nothing
          changes before you have seen what would.
        </Text>
      </div>
      <Button variant="light" onClick={() => input.current?.click()}>
        Choose files
      </Button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Reports"
        onChange={(event) => {
          onFiles([...(event.currentTarget.files ?? [])]);
          // The same file may be chosen again.
          event.currentTarget.value = '';
        }}
      />
    </section>
  );
}
