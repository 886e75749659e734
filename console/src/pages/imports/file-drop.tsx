import { type DragEvent, type ReactNode, useState } from 'react';
import classes from './imports.module.css';

interface FileDropProps {
  onFiles: (files: readonly File[]) => void;
  children: ReactNode;
}

/** The part of a page onto which files can be dropped. */
export function FileDrop({ onFiles, children }: FileDropProps) {
  const [isDragOver, setDragOver] = useState(false);
  const handleDrag = (event: DragEvent) => {
    event.preventDefault();
    setDragOver(true);
  };
  return (
    // Keyboard users select files with a button.
    // eslint-disable-next-line jsx-a11y/no-static-element-interactions
    <div
      className={classes.target}
      data-over={isDragOver || undefined}
      onDragOver={handleDrag}
      onDragEnter={handleDrag}
      onDragLeave={() => setDragOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setDragOver(false);
        if (event.dataTransfer.files.length > 0) onFiles([...event.dataTransfer.files]);
      }}
    >
      {children}
    </div>
  );
}
