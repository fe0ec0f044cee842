"""Secrets of all kinds, made up, as they stand in logs."""

from __future__ import annotations

import random
import string

_LETTERS = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"
_UPPER = string.ascii_uppercase + string.digits
_BASE32 = string.ascii_uppercase + "234567"
_NAMES = ("ana", "bo.li", "c_smith", "d-wang", "j.doe42", "zhang3", "mueller")


def _of(chance: random.Random, alphabet: str, count: int) -> str:
    return "".join(chance.choices(alphabet, k=count))


#: Kind -> the line that it stands in, with the lengths and alphabets of the secret's parts.
TEMPLATES = (
    ("export HF_TOKEN={}", "hf_", _LETTERS, 34),
    ("login(token='{}')", "hf_", _LETTERS, 34),
    ("wandb: api key: {}", "", _HEX, 40),
    ("WANDB_API_KEY={}", "", _HEX, 40),
    ("wandb login {}", "wandb_v1_", _LETTERS, 60),
    ("aws_access_key_id = {}", "AKIA", _BASE32, 16),
    ("AWS_SECRET_ACCESS_KEY={}", "", _LETTERS + "/+", 40),
    ("OSS_ACCESS_KEY_ID: {}", "LTAI", _LETTERS, 20),
    ("secretId={}", "AKID", _LETTERS, 32),
    ("openai.api_key = '{}'", "sk-proj-", _LETTERS, 48),
    ("OPENAI_API_KEY={}", "sk-", _LETTERS, 48),
    ("anthropic key {}", "sk-ant-api03-", _LETTERS, 93),
    ("GROQ {}", "gsk_", _LETTERS, 52),
    ("REPLICATE_API_TOKEN={}", "r8_", _LETTERS, 37),
    ("nvidia {} used", "nvapi-", _LETTERS, 64),
    ("remote: {}", "ghp_", _LETTERS, 36),
    ("git: {}", "github_pat_", _LETTERS, 82),
    ("CI_JOB {}", "glpat-", _LETTERS, 20),
    ("slack {}", "xoxb-", _LETTERS, 40),
    ("notify https://hooks.slack.com/services/{}", "T", _LETTERS, 40),
    ("telegram {}", "12345678:AA", _LETTERS, 33),
    ("maps {}", "AIza", _LETTERS, 35),
    ("oauth {}", "ya29.", _LETTERS, 60),
    ("DefaultEndpointsProtocol=https;AccountName=ours;AccountKey={}==", "", _LETTERS, 86),
    ("stripe {}", "sk_live_", _LETTERS, 24),
    ("mail {}", "SG.", _LETTERS, 22),
    ("npm config {}", "npm_", _LETTERS, 36),
    ("twine {}", "pypi-AgEIcHlwaS5vcmc", _LETTERS, 70),
    ("docker login {}", "dckr_pat_", _LETTERS, 27),
    ("digitalocean {}", "dop_v1_", _HEX, 64),
    ("DATABRICKS_TOKEN={}", "dapi", _HEX, 32),
    ("vault {}", "hvs.", _LETTERS, 90),
    ("grafana {}", "glsa_", _LETTERS, 32),
    ("newrelic {}", "NRAK-", _UPPER, 27),
    ("linear {}", "lin_api_", _LETTERS, 40),
    ("Authorization: Bearer {}", "", _LETTERS, 40),
    ('{{"api_key": "{}"}}', "", _LETTERS, 32),
    ("client_secret: {}", "", _LETTERS, 32),
    ("--auth-token={}", "", _LETTERS, 40),
    ("jwt {}", "eyJ", _LETTERS, 30),
    ("GET https://bucket.s3.amazonaws.com/x?X-Amz-Signature={}&a=1", "", _HEX, 64),
    ("pull https://registry.corp/v2?access_token={}", "", _LETTERS, 40),
    ("postgresql://trainer:{}@db/runs", "", _LETTERS, 12),
    ("redis://:{}@cache:6379/0", "", _LETTERS, 16),
    ("http://ana:{}@proxy.corp:3128", "", _LETTERS, 10),
    ("MYSQL_PASSWORD={}", "", _LETTERS, 14),
    ("password: '{}'", "", _LETTERS + "!$%", 12),
    ("PGPASSWORD={} psql", "", _LETTERS, 10),
)


def planted(chance: random.Random) -> tuple[str, str]:
    """A line of a log, and the secret in it."""
    kind = chance.randrange(len(TEMPLATES) + 6)
    if kind < len(TEMPLATES):
        line, prefix, alphabet, count = TEMPLATES[kind]
        secret = prefix + _of(chance, alphabet, count)
        if prefix in ("SG.", "glsa_", "eyJ"):
            tail = {"SG.": f".{_of(chance, _LETTERS, 43)}", "glsa_": f"_{_of(chance, _HEX, 8)}"}
            secret += tail.get(
                prefix, f".eyJ{_of(chance, _LETTERS, 40)}.{_of(chance, _LETTERS, 43)}"
            )
        return line.format(secret), secret
    name = f"{chance.choice(_NAMES)}{_of(chance, string.ascii_lowercase, 5)}"
    address = ".".join(str(chance.randint(11, 250)) for _ in range(4))
    return (
        (f'  File "/home/{name}/proj/train.py", line 3, in main', f"/home/{name}"),
        (f"saving to /Users/{name}/runs/7", f"/Users/{name}"),
        (rf"C:\Users\{name}\proj\train.py", name),
        (f"cache /mnt/nfs/users/{name}/hub", f"users/{name}"),
        (f"mail {name}@lab.example.org when done", f"{name}@lab.example.org"),
        (f"[c10d] connected to {address}:29500", address),
    )[kind - len(TEMPLATES)]


def private_key(chance: random.Random) -> tuple[str, str]:
    """Lines of a log that hold a private key, and a line of it."""
    lines = [_of(chance, _LETTERS, 64) for _ in range(6)]
    body = "\n".join(lines)
    return f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----", lines[2]
