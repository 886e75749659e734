import { Button, type ButtonProps } from '@mantine/core';
import { useRef } from 'react';
import { importMessages } from './messages.ts';

interface ChooseFilesProps extends ButtonProps {
  label: string;
  onFiles: (files: readonly File[]) => void;
}

/** A button that selects reports. */
export function ChooseFiles({ label, onFiles, ...props }: ChooseFilesProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button variant="default" onClick={() => input.current?.click()} {...props}>
        {label}
      </Button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={importMessages.reports}
        onChange={(event) => {
          onFiles([...(event.currentTarget.files ?? [])]);
          // Allows selecting the same file again.
          event.currentTarget.value = '';
        }}
      />
    </>
  );
}
