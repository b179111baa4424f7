# A server on Python. build.sh and copy-python.sh have put it into this build's folder.
FROM scratch
COPY . /
WORKDIR /servers
USER 65532:65532
