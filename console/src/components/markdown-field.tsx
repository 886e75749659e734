import { Button, Group, Input } from '@mantine/core';
import { useId, useState } from 'react';
import classes from './markdown-field.module.css';
import { MarkdownTextarea, type MarkdownTextareaProps } from './markdown-textarea.tsx';
import { LazyMarkdown } from './lazy-markdown.tsx';
import { DimmedText } from './dimmed-text.tsx';
import { markdownMessages } from './markdown-messages.ts';

interface MarkdownFieldProps extends MarkdownTextareaProps {
  label: string;
  /** Id of the vulnerability whose attachments the text may show. */
  vulnerabilityId?: number | undefined;
}

/** A Markdown field with a preview. */
export function MarkdownField({
  label,
  vulnerabilityId,
  description,
  value,
  minRows = 4,
  ...textareaProps
}: MarkdownFieldProps) {
  const messages = markdownMessages;
  const [isPreview, setPreview] = useState(false);
  const id = useId();
  const hint = textareaProps.uploadImage === undefined ? messages.hint : messages.hintWithImages;
  return (
    <div>
      <Group justify="space-between" gap="xs" mb={4}>
        <Input.Label htmlFor={id} id={`${id}-label`}>
          {label}
        </Input.Label>
        <Group gap="xs">
          <DimmedText size="xs" id={`${id}-hint`}>
            {description ?? hint}
          </DimmedText>
          <Button
            size="xs"
            variant="default"
            aria-label={isPreview ? messages.edit(label) : messages.preview(label)}
            onClick={() => setPreview(!isPreview)}
          >
            {isPreview ? 'Edit' : 'Preview'}
          </Button>
        </Group>
      </Group>
      {isPreview ? (
        <section className={classes.preview} aria-labelledby={`${id}-label`}>
          {value.trim() === '' ? (
            <DimmedText>{messages.nothingToPreview}</DimmedText>
          ) : (
            <LazyMarkdown {...(vulnerabilityId === undefined ? {} : { vulnerabilityId })}>
              {value}
            </LazyMarkdown>
          )}
        </section>
      ) : (
        <MarkdownTextarea
          id={id}
          aria-describedby={`${id}-hint`}
          minRows={minRows}
          maxRows={24}
          value={value}
          {...textareaProps}
        />
      )}
    </div>
  );
}
