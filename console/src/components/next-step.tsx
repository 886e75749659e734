import { Button, Radio, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useBulkUpdate } from '../queries/bulk-update.ts';
import {
  mayDismissNext,
  type NextStep,
  type NextStepFinding,
  nextStepOf,
  statusOfStep,
} from '../queries/next-steps.ts';
import { useRequestRetest } from '../queries/retests.ts';
import { isDismissal, STATUS_IDS, statusName } from '../queries/statuses.ts';
import { ReasonField } from './dismissal-form.tsx';
import { FormDialog } from './form-dialog.tsx';
import { MarkdownField } from './markdown-field.tsx';
import type { UploadImage } from './markdown-textarea.tsx';
import { StatusMark } from './marks.tsx';
import { nextStepMessages as messages } from './next-step-messages.ts';
import { errorText } from './notifications.ts';

export interface NextStepControl {
  /** Undefined if there is none for the reader. */
  step: NextStep | undefined;
  /** Takes the step, or opens its dialog. Undefined if there is nothing to do. */
  run: (() => void) | undefined;
  /** Opens the dialog that dismisses the finding. Undefined if the reader may not. */
  dismiss: (() => void) | undefined;
  /** To be rendered once: the open dialog. */
  dialog: ReactNode;
}

interface NextStepOptions {
  /** Goes to the form that decides the retest. */
  onDecideRetest: () => void;
  /** Uploads the images of the message. */
  uploadImage?: UploadImage;
}

/** The next step of a finding, its shortcut's action and its dialogs. */
export function useNextStep(
  finding: NextStepFinding | undefined,
  { onDecideRetest, uploadImage }: NextStepOptions,
): NextStepControl {
  const [dialog, setDialog] = useState<'dismiss' | 'requestRetest'>();
  const change = useBulkUpdate();
  if (finding === undefined) return { step: undefined, run: undefined, dismiss: undefined, dialog: null };
  const { id } = finding;
  const step = nextStepOf(finding);
  const set = (statusId: number, reason?: string) =>
    change.mutate({
      ids: [id],
      set: { status_id: statusId },
      label: statusName(statusId),
      ...(reason === undefined ? {} : { comment: reason }),
    });
  const close = () => setDialog(undefined);
  const run = (name: NextStep) => {
    const statusId = statusOfStep(name);
    if (statusId !== undefined) set(statusId);
    else if (name === 'requestRetest') setDialog('requestRetest');
    else onDecideRetest();
  };
  return {
    step,
    run: step === undefined || step === 'wait' ? undefined : () => run(step),
    dismiss: mayDismissNext(finding) ? () => setDialog('dismiss') : undefined,
    dialog:
      dialog === 'requestRetest' ? (
        <RequestRetestDialog id={id} uploadImage={uploadImage} onClose={close} />
      ) : dialog === 'dismiss' ? (
        <DismissDialog
          onClose={close}
          onConfirm={(statusId, reason) => {
            close();
            set(statusId, reason);
          }}
        />
      ) : null,
  };
}

interface NextStepButtonProps {
  control: NextStepControl;
  /** Beside others of its size in a bar. */
  size?: 'sm' | 'md';
}

/** The one filled button of a finding, or what it waits for, with the button that dismisses it. */
export function NextStepButton({ control: { step, run, dismiss }, size = 'sm' }: NextStepButtonProps) {
  return (
    <>
      {dismiss !== undefined && (
        <Button size={size} variant="default" onClick={dismiss}>
          {messages.dismiss}
        </Button>
      )}
      {step !== undefined && run === undefined && (
        <Text component="span" size="sm" c="dimmed">
          {messages.steps[step]}
        </Text>
      )}
      {step !== undefined && run !== undefined && (
        <Button size={size} title={`${messages.steps[step]} (.)`} onClick={run}>
          {messages.steps[step]}
        </Button>
      )}
    </>
  );
}

interface RequestRetestDialogProps {
  id: number;
  uploadImage?: UploadImage | undefined;
  onClose: () => void;
}

/** Asks for a retest of a finding, with a message that describes the fix. */
export function RequestRetestDialog({ id, uploadImage, onClose }: RequestRetestDialogProps) {
  const [message, setMessage] = useState('');
  const request = useRequestRetest(id);
  return (
    <FormDialog
      title={messages.steps.requestRetest}
      submitLabel={messages.steps.requestRetest}
      isPending={request.isPending}
      isDisabled={message.trim() === ''}
      onClose={onClose}
      onSubmit={() => request.mutate(message, { onSuccess: onClose })}
    >
      <MarkdownField
        label={messages.fixedWhat}
        vulnerabilityId={id}
        uploadImage={uploadImage}
        data-autofocus
        value={message}
        error={errorText(request.error)}
        onChange={setMessage}
      />
    </FormDialog>
  );
}

interface DismissDialogProps {
  onConfirm: (statusId: number, reason: string) => void;
  onClose: () => void;
}

/** Asks for the status of a dismissal and its reason. */
function DismissDialog({ onConfirm, onClose }: DismissDialogProps) {
  // No default: each says something else to those who reported it.
  const [statusId, setStatusId] = useState<number>();
  const [reason, setReason] = useState('');
  return (
    <FormDialog
      title={messages.dismissTitle}
      submitLabel={messages.dismiss}
      isDisabled={statusId === undefined || reason.trim() === ''}
      onClose={onClose}
      onSubmit={() => {
        if (statusId !== undefined) onConfirm(statusId, reason);
      }}
    >
      <Radio.Group
        label={messages.dismissAs}
        required
        value={String(statusId)}
        onChange={(value) => setStatusId(Number(value))}
      >
        {STATUS_IDS.filter(isDismissal).map((id) => (
          <Radio key={id} mt="xs" value={String(id)} label={<StatusMark id={id} withLabel />} />
        ))}
      </Radio.Group>
      <ReasonField value={reason} onChange={setReason} />
    </FormDialog>
  );
}
