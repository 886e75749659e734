import { List, Stack, Text } from '@mantine/core';
import type { TestingSessionWithEdits } from '../../../../client/src/openapi-types.ts';
import { Dialog } from '../../components/dialog.tsx';
import { DimmedText } from '../../components/dimmed-text.tsx';
import { fillSentence } from '../../components/fill-sentence.ts';
import { commonMessages } from '../../components/messages.ts';
import { Time } from '../../components/time.tsx';
import { hoursMessages as messages } from './messages.ts';

type Fields = TestingSessionWithEdits['edits'][number]['before'];

const FIELDS = ['started_at', 'ended_at', 'note'] as const;

interface SessionEditsDialogProps {
  session: TestingSessionWithEdits;
  onClose: () => void;
}

/** The corrections of a testing session, oldest first: who changed which field, from what to what. */
export function SessionEditsDialog({ session, onClose }: SessionEditsDialogProps) {
  return (
    <Dialog title={messages.editsTitle} onClose={onClose}>
      <Stack gap="md">
        {session.edits.map(({ at, user, before, after }, index) => (
          <section key={`${index} ${at}`}>
            <DimmedText>
              {fillSentence(messages.editedBy, {
                name: commonMessages.person.author(user),
                at: <Time at={at} exact />,
              })}
            </DimmedText>
            <List size="sm" listStyleType="disc">
              {FIELDS.filter((name) => Object.hasOwn(after, name)).map((name) => (
                <List.Item key={name} style={{ overflowWrap: 'anywhere' }}>
                  {fillSentence(messages.fieldChange, {
                    field: (
                      <Text span inherit fw={600}>
                        {messages.fields[name]}
                      </Text>
                    ),
                    before: <FieldValue name={name} fields={before} />,
                    after: <FieldValue name={name} fields={after} />,
                  })}
                </List.Item>
              ))}
            </List>
          </section>
        ))}
      </Stack>
    </Dialog>
  );
}

function FieldValue({ name, fields }: { name: (typeof FIELDS)[number]; fields: Fields }) {
  const value = fields[name] ?? '';
  if (name === 'note') return value === '' ? messages.noNote : value;
  return value === '' ? messages.running : <Time at={value} exact />;
}
