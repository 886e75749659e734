// Fills in passkey forms. Without this script, or without browser support for passkeys, they stay hidden.

const CANNOT_ASK = 'The server did not respond. Reload the page and try again.';
const WORDS = {
  NotAllowedError:
    'Your device did not respond: the request was cancelled or timed out, or the device has no matching passkey. Try again, or use another method.',
  InvalidStateError: 'This device already has a passkey for your account.',
};

const canUse =
  typeof globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON === 'function' &&
  typeof globalThis.PublicKeyCredential?.parseCreationOptionsFromJSON === 'function';

if (canUse) document.querySelectorAll('[data-passkey]').forEach(setUp);

/** Shows a form, and requests a passkey when it is submitted. */
function setUp(part) {
  const form = part.querySelector('form');
  const status = part.querySelector('[aria-live]');
  const elsewhere = part.querySelector('[data-elsewhere]');
  part.hidden = false;
  if (location.origin !== part.dataset.origin) {
    // The passkeys belong to the other origin.
    elsewhere.querySelector('a').href = part.dataset.origin + location.pathname + location.search;
    elsewhere.hidden = false;
    form.hidden = true;
    return;
  }
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    status.textContent = '';
    const button = form.querySelector('button');
    button.disabled = true;
    try {
      form.elements.credential.value = JSON.stringify(await ask(part.dataset.passkey));
      // Does not trigger this listener again.
      form.submit();
    } catch (error) {
      status.textContent = WORDS[error.name] ?? (error instanceof Refused ? CANNOT_ASK : `${error.message}`);
      button.disabled = false;
      button.focus();
    }
  });
}

class Refused extends Error {}

/** @returns the response of the authenticator, ready for JSON */
async function ask(purpose) {
  const answer = await fetch(`/passkeys/options?for=${purpose}`, { redirect: 'error' }).catch(
    () => undefined,
  );
  if (!answer?.ok) throw new Refused();
  const options = await answer.json();
  if (purpose === 'add') {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
    return (await navigator.credentials.create({ publicKey })).toJSON();
  }
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  return (await navigator.credentials.get({ publicKey })).toJSON();
}
