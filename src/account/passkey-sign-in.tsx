import { Type } from 'typebox';
import { signInWithPasskey } from '../domain/sign-in/verify-passkey.ts';
import type { RegisterRoutes } from '../http/register-area.ts';
import { actOf } from '../http/browser-sessions.ts';
import { HOME, signInAddress } from '../pages/paths.ts';
import { Notice } from '../pages/forms.tsx';
import { Page } from '../pages/layout.tsx';
import { sendPage } from '../pages/pages-plugin.tsx';
import { CredentialField, takeAnswer } from './passkey-endpoints.ts';
import { continueSignIn } from './sign-in-flow.ts';
import { MAX_RETURN_LENGTH } from './sign-in-page.tsx';

const PasskeySignInForm = Type.Object({
  credential: CredentialField,
  to: Type.Optional(Type.String({ maxLength: MAX_RETURN_LENGTH })),
});

/** Sign-in with a passkey alone: it holds a key and has verified its user, which is two factors. */
export const registerPasskeySignIn: RegisterRoutes = (app, context) => {
  app.post(
    '/sign-in/passkey',
    {
      config: { operation: 'sign-in-with-passkey', access: 'open' },
      schema: { hide: true, body: PasskeySignInForm },
    },
    async (request, reply) => {
      const { credential, to } = request.body;
      const answer = takeAnswer(context, request, reply, 'sign-in', credential);
      const owner = answer && (await signInWithPasskey(context, actOf(request, context.clock()), answer));
      if (owner !== undefined)
        return continueSignIn(context, request, reply, { ...owner, method: 'passkey', strong: true }, to);
      reply.header('www-authenticate', 'Form realm="assay"');
      return sendPage(
        request,
        reply,
        <Page title="Sign in">
          {/* The same words for every reason, as with a password. */}
          <Notice kind="error">
            This passkey cannot sign you in here, or you took too long. Try again, or use your password.
          </Notice>
          <div>
            <a class="button primary" href={signInAddress(to ?? HOME)}>
              Back to sign-in
            </a>
          </div>
        </Page>,
        { status: 401 },
      );
    },
  );
};
